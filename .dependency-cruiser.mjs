// The floors of the house, from the ground up. A file may import from its own room and from lower
// floors; of a neighbour on the same floor it may import only the door, `index.ts` (for `cli/`, `cli.ts`).
const floors = [
  ['base'],
  ['db'],
  ['alarms', 'ledger', 'operators', 'partners', 'controls', 'rates', 'gateway'],
  ['payments'],
  ['webhooks', 'approvals'],
  ['api', 'bot', 'console'],
  ['cli'],
];

const inside = rooms => `^src/(${rooms.join('|')})/`;

const neverUp = floors.slice(0, -1).map((rooms, level) => ({
  name: `never-up-from-${rooms.join('-')}`,
  severity: 'error',
  from: { path: inside(rooms) },
  to: { path: [inside(floors.slice(level + 1).flat()), '^src/[^/]+\\.ts$'] },
}));

const onlyThroughTheDoor = floors.flat().map(room => ({
  name: `only-through-the-door-of-${room}`,
  severity: 'error',
  from: { path: '^src/', pathNot: [`^src/${room}/`, `^src/${room}\\.ts$`] },
  // The two ground floors are toolboxes: everything in them is meant to be used from above.
  to: { path: `^src/${room}/`, pathNot: ['^src/(base|db)/', `^src/${room}/index\\.ts$`] },
}));

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...neverUp,
    ...onlyThroughTheDoor,
    {
      name: 'base-is-pure',
      comment: 'The lowest floor computes and does nothing else: no files, no network, no packages.',
      severity: 'error',
      from: { path: '^src/base/' },
      to: { dependencyTypes: ['npm', 'core'], pathNot: '^(node:)?crypto$' },
    },
    {
      name: 'product-does-not-import-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'pages-know-only-the-shapes',
      comment: 'What the pages share with the house is what they are told, and of that the types.',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^(src|simulator|test|bench)/', pathNot: '^src/console/shapes\\.ts$' },
    },
    {
      name: 'pages-take-types-only',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^src/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'house-does-not-import-pages',
      severity: 'error',
      from: { path: '^(src|simulator)/' },
      to: { path: '^web/' },
    },
    {
      name: 'client-library-stands-alone',
      comment: 'It runs wherever there are fetch and WebCrypto, and is installed without the house.',
      severity: 'error',
      from: { path: '^sdk/src/' },
      to: { pathNot: '^sdk/src/' },
    },
    {
      name: 'examples-know-only-the-client-library',
      comment: 'They are there to be copied by people who have the library and nothing else of us.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(src|simulator|test|bench|web)/' },
    },
    {
      name: 'nobody-leans-on-an-example',
      severity: 'error',
      from: { path: '^(src|simulator|bench|web|sdk)/' },
      to: { path: '^examples/' },
    },
    {
      name: 'simulator-stands-alone',
      comment: 'The bank side is another system: it shares nothing with the house but the wire.',
      severity: 'error',
      from: { path: '^simulator/' },
      to: { path: '^(src|test|bench)/' },
    },
    {
      name: 'house-knows-only-the-wire',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^simulator/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Of a release of TypeScript that this tool cannot read yet. It sees imports of types, too.
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
