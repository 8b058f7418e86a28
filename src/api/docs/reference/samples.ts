import type { Snippet } from '../code-block.ts';
import { type ApiDocument, type Endpoint, exampleOf, examplesOf, type Parameter } from './document.ts';

type SampleRequest = ReturnType<typeof requestOf>;

/** One request to an endpoint in every language of the tabs, with its required parameters and an example body. */
export function samplesOf(endpoint: Endpoint, document: ApiDocument): Snippet[] {
  const request = requestOf(endpoint, document);
  return [
    { language: 'sh', code: curl(request) },
    { language: 'ts', code: typescript(request) },
    { language: 'python', code: python(request) },
    { language: 'php', code: php(request) },
    { language: 'go', code: go(request) },
  ];
}

function requestOf({ method, path, operation }: Endpoint, document: ApiDocument) {
  const { parameters = [], requestBody } = operation;
  const exampleText = ({ example, schema }: Parameter) => String(example ?? exampleOf(schema, document));
  const isSent = ({ required, schema }: Parameter) => required === true && schema.default === undefined;
  const sent = (place: Parameter['in']) => parameters.filter(one => one.in === place && isSent(one));
  const query = sent('query').map(one => `${one.name}=${encodeURIComponent(exampleText(one))}`);
  const content = requestBody?.content['application/json'];
  const filled = sent('path').reduce((text, one) => text.replace(`{${one.name}}`, exampleText(one)), path);
  return {
    method,
    /** With its query. */
    path: [filled, ...(query.length > 0 ? [query.join('&')] : [])].join('?'),
    /** Besides `Authorization`. */
    headers: [
      ...(content ? [['Content-Type', 'application/json'] as [string, string]] : []),
      ...sent('header').map(one => [one.name, exampleText(one)] as [string, string]),
    ],
    body: content && examplesOf(content, document)[0].value,
  };
}

const curl = ({ path, headers, body }: SampleRequest) =>
  [
    `curl "$KOPECK_URL${path}"`,
    `-H "Authorization: Bearer $KOPECK_KEY"`,
    ...headers.map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ]
    .join(' \\\n  ')
    .concat('\n');

const typescript = ({
  method,
  path,
  headers,
  body,
}: SampleRequest) => `const response = await fetch(\`\${process.env.KOPECK_URL}${path}\`, {
  method: '${method}',
  headers: {
    Authorization: \`Bearer \${process.env.KOPECK_KEY}\`,
${headers.map(([name, value]) => `    '${name}': '${value}',\n`).join('')}  },
${body === undefined ? '' : `  body: JSON.stringify(${literal(body, scripts.typescript, 1)}),\n`}});
console.log(response.status, await response.json());
`;

const python = ({ method, path, headers, body }: SampleRequest) => `import json
import os
import urllib.request

request = urllib.request.Request(
    os.environ["KOPECK_URL"] + "${path}",
    method="${method}",
    headers={
        "Authorization": "Bearer " + os.environ["KOPECK_KEY"],
${headers.map(([name, value]) => `        "${name}": "${value}",\n`).join('')}    },
${body === undefined ? '' : `    data=json.dumps(${literal(body, scripts.python, 1)}).encode(),\n`})
with urllib.request.urlopen(request) as response:
    print(response.status, json.load(response))
`;

const php = ({ path, headers, body }: SampleRequest) => `<?php

$curl = curl_init(getenv('KOPECK_URL') . '${path}');
curl_setopt_array($curl, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('KOPECK_KEY'),
${headers.map(([name, value]) => `        '${name}: ${value}',\n`).join('')}    ],
${body === undefined ? '' : `    CURLOPT_POSTFIELDS => json_encode(${literal(body, scripts.php, 1)}),\n`}]);
$response = curl_exec($curl);
echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE), ' ', $response, "\\n";
`;

const go = ({ method, path, headers, body }: SampleRequest) => `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
${body === undefined ? '' : '	"strings"\n'})

func main() {
${body === undefined ? '' : `	body := strings.NewReader(\`${JSON.stringify(body, null, 2).replaceAll('\n', '\n\t')}\`)\n`}	request, err := http.NewRequest("${method}", os.Getenv("KOPECK_URL")+"${path}", ${body === undefined ? 'nil' : 'body'})
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KOPECK_KEY"))
${headers.map(([name, value]) => `	request.Header.Set("${name}", "${value}")\n`).join('')}	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		panic(err)
	}
	fmt.Println(response.Status, string(answer))
}
`;

/** How a language writes an object; its lists and other values are those of JSON. */
interface Script {
  brackets: [open: string, close: string];
  empty: string;
  indent: string;
  key: (name: string) => string;
  text: (value: string) => string;
}

const singleQuoted = (value: string) => `'${value.replaceAll(/[\\']/g, '\\$&')}'`;

const scripts: Record<'typescript' | 'python' | 'php', Script> = {
  typescript: {
    brackets: ['{', '}'],
    empty: '{}',
    indent: '  ',
    key: name => `${/^\w+$/.test(name) ? name : singleQuoted(name)}: `,
    text: singleQuoted,
  },
  python: {
    brackets: ['{', '}'],
    empty: '{}',
    indent: '    ',
    key: name => `${JSON.stringify(name)}: `,
    text: JSON.stringify,
  },
  php: {
    brackets: ['[', ']'],
    empty: 'new stdClass()',
    indent: '    ',
    key: name => `${singleQuoted(name)} => `,
    text: singleQuoted,
  },
};

function literal(value: unknown, script: Script, depth: number): string {
  if (typeof value === 'string') return script.text(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(
    ([name, one]) =>
      `${script.indent.repeat(depth + 1)}${script.key(name)}${literal(one, script, depth + 1)},\n`,
  );
  const [open, close] = script.brackets;
  return entries.length === 0
    ? script.empty
    : `${open}\n${entries.join('')}${script.indent.repeat(depth)}${close}`;
}
