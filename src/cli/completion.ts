import { Argument, Command } from 'commander';
import type { Terminal } from './command.ts';

type Place = ReturnType<typeof placeOf>;
type Word = Place['words'][number];

export const completionCommand = (terminal: Terminal): Command =>
  new Command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(Object.keys(scripts)))
    .action((shell: Shell, _options, { parent }: Command) => {
      terminal.stdout.write(`${scripts[shell](placesOf(parent!))}\n`);
    });

/** What may follow a command, such as `partner` or `partner list`; the path of the program itself is empty. */
const placeOf = (command: Command, path: string) => ({
  path,
  words: [
    ...command.commands.map(one => ({ name: one.name(), description: one.description() })),
    ...command
      .createHelp()
      .visibleOptions(command)
      .map(({ long, description }) => ({ name: long!, description })),
  ],
});

const placesOf = (command: Command, path = ''): Place[] => [
  placeOf(command, path),
  ...command.commands.flatMap(one => placesOf(one, path ? `${path} ${one.name()}` : one.name())),
];

const paths = (places: Place[]) => places.flatMap(({ path }) => (path ? [path] : []));

/** Finds the longest path of commands in what was typed. */
const pathFinder = (places: Place[], typed: string) => `  local place="" word
  for word in ${typed}; do
    case "\${place:+$place }$word" in
      ${paths(places)
        .map(path => `"${path}"`)
        .join(' | ')}) place="\${place:+$place }$word" ;;
    esac
  done`;

const bashScript = (places: Place[]) => `# kopeck completion bash > /etc/bash_completion.d/kopeck
_kopeck() {
${pathFinder(places, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  local words=""
  case "$place" in
${places.map(({ path, words }) => `    "${path}") words="${words.map(({ name }) => name).join(' ')}" ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _kopeck kopeck`;

const zshQuoted = ({ name, description }: Word) =>
  `'${name}:${description.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`;

const zshScript = (places: Place[]) => `#compdef kopeck
# kopeck completion zsh > "\${fpath[1]}/_kopeck"
_kopeck() {
${pathFinder(places, `\${words[2,CURRENT-1]}`)}
  local -a completions
  case "$place" in
${places.map(({ path, words }) => `    "${path}") completions=(${words.map(zshQuoted).join(' ')}) ;;`).join('\n')}
  esac
  _describe kopeck completions || _files
}
compdef _kopeck kopeck`;

const fishQuoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

const fishScript = (places: Place[]) => `# kopeck completion fish > ~/.config/fish/completions/kopeck.fish
function __kopeck_place
  set -l place ""
  for word in (commandline -opc)[2..]
    switch (string trim "$place $word")
      case ${paths(places).map(fishQuoted).join(' ')}
        set place (string trim "$place $word")
    end
  end
  echo $place
end
complete -c kopeck -f
${places
  .flatMap(({ path, words }) =>
    words.map(({ name, description }) =>
      [
        'complete -c kopeck',
        `-n ${fishQuoted(`test "$(__kopeck_place)" = "${path}"`)}`,
        name.startsWith('--') ? `-l ${name.slice(2)}` : `-a ${name}`,
        `-d ${fishQuoted(description)}`,
      ].join(' '),
    ),
  )
  .join('\n')}`;

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
type Shell = keyof typeof scripts;
