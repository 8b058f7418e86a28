// The layers, from the bottom up: the number of a layer is its place in this list. A file imports from its own module
// and from lower layers; of another module on its own layer it imports only the entry point, `index.ts`.
export const layers = [
  ['base'],
  ['db', 'http-client', 'telemetry'],
  ['alarms', 'controls', 'gateway', 'ledger', 'operators', 'partners', 'rates', 'request-log'],
  ['deposits', 'payments'],
  ['approvals', 'reports', 'webhooks'],
  ['api', 'bot', 'console', 'portal', 'web'],
  ['cli', 'runtime'],
];

// The parts of the module db, from the bottom up. A part imports only from parts on lower levels, and only their `index.ts`.
// Beside the folders, `database.ts` puts the parts together.
export const databaseParts = [
  ['backup-store', 'postgres'],
  ['batching', 'embedded', 'history', 'retention', 'schema'],
  ['audit', 'notices', 'processes', 'roles', 'sessions'],
  ['secrets'],
  ['backup'],
];

// PostgreSQL runs a command for each WAL segment and waits for it. So of db these load the files that they use, and no index.
const walCommands = '^src/cli/(wal|backup-store)\\.ts$';
const usedByWalCommands =
  '^src/db/(backup-store/(files|open-store|store|wal-files)|secrets/secret-files)\\.ts$';

const inside = modules => `^src/(${modules.join('|')})/`;

const neverUp = layers.slice(0, -1).map((modules, layer) => ({
  name: `layer-${layer}-imports-nothing-above`,
  severity: 'error',
  from: { path: inside(modules) },
  to: { path: inside(layers.slice(layer + 1).flat()) },
}));

const onlyEntryPoints = layers.flat().map(module => ({
  name: `only-the-entry-point-of-${module}`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/${module}/` },
  // The lowest layer is a toolbox: everything in it is meant to be used from above. The module db has an entry point per part.
  to: { path: `^src/${module}/`, pathNot: ['^src/base/', '^src/db/[^/]+/', `^src/${module}/index\\.ts$`] },
}));

const insideParts = parts => `^src/db/(${parts.join('|')})/`;

const partsInOrder = databaseParts.flatMap((parts, level) =>
  parts.map(part => ({
    name: `part-${part}-imports-only-lower-parts`,
    severity: 'error',
    from: { path: insideParts([part]) },
    to: { path: '^src/db/', pathNot: insideParts([part, ...databaseParts.slice(0, level).flat()]) },
  })),
);

const onlyIndexOfParts = databaseParts.flat().map(part => ({
  name: `only-the-entry-point-of-part-${part}`,
  severity: 'error',
  from: { path: '^src/', pathNot: [`^src/db/${part}/`, walCommands] },
  to: { path: `^src/db/${part}/`, pathNot: `^src/db/${part}/index\\.ts$` },
}));

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...neverUp,
    ...onlyEntryPoints,
    ...partsInOrder,
    ...onlyIndexOfParts,
    {
      name: 'wal-commands-load-only-what-they-use',
      severity: 'error',
      from: { path: walCommands },
      to: { path: '^src/db/', pathNot: usedByWalCommands },
    },
    {
      name: 'every-file-is-in-a-layer',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: inside(layers.flat()) },
    },
    {
      name: 'every-folder-of-db-is-a-part',
      severity: 'error',
      from: {},
      to: { path: '^src/db/[^/]+/', pathNot: insideParts(databaseParts.flat()) },
    },
    {
      name: 'base-is-pure',
      comment:
        'The lowest layer computes and does nothing else: no files, no network, no packages of its own.',
      severity: 'error',
      from: { path: '^src/base/' },
      to: { dependencyTypes: ['npm', 'core'], pathNot: '^(node:)?(crypto|module)$' },
    },
    {
      name: 'calls-to-others-go-through-http-client',
      comment:
        'It gives every call a deadline to the last byte and a bound on its answer. Webhooks have a queue of their own.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(http-client|webhooks/http)/' },
      to: {
        path: '(^|/)node_modules/(undici|node-fetch)/|^(node:)?(https|http2)$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'product-does-not-import-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|database)/' },
    },
    {
      name: 'pages-import-only-the-shapes',
      comment: 'The pages share with the service the types of its answers, and nothing else.',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^(src|simulator|test|bench)/', pathNot: '^src/(console|portal|web)/shapes(/|\\.ts$)' },
    },
    {
      name: 'pages-import-only-types',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^src/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'portal-speaks-with-its-own-words',
      comment: "Loading the console's texts sets its words for errors, which then stand in the portal.",
      severity: 'error',
      from: { path: '^web/src/portal/main\\.tsx$' },
      to: { path: '^web/src/texts/index\\.ts$', reachable: true },
    },
    {
      name: 'service-does-not-import-pages',
      severity: 'error',
      from: { path: '^(src|simulator)/' },
      to: { path: '^web/' },
    },
    {
      name: 'client-library-imports-nothing',
      comment: 'It runs wherever there are fetch and WebCrypto, and is installed without the service.',
      severity: 'error',
      from: { path: '^sdk/src/' },
      to: { pathNot: '^sdk/src/' },
    },
    {
      name: 'examples-import-only-the-client-library',
      comment: 'Partners copy them; partners have the library and nothing else of ours.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^(src|simulator|test|bench|web)/' },
    },
    {
      name: 'nothing-imports-examples',
      severity: 'error',
      from: { path: '^(src|simulator|bench|web|sdk)/' },
      to: { path: '^examples/' },
    },
    {
      name: 'simulator-imports-nothing-of-the-service',
      comment: 'The gateway is another system: it shares only the wire contract.',
      severity: 'error',
      from: { path: '^simulator/' },
      to: { path: '^(src|test|bench)/' },
    },
    {
      name: 'service-does-not-import-the-simulator',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^simulator/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // dependency-cruiser cannot read TypeScript 7 yet; swc also sees imports of types.
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
