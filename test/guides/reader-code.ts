/** What the README of the library leaves to its reader, by name; a snippet gets what it uses and does not declare itself. */
const readerCode: Record<string, string> = {
  Kopeck: `import { Kopeck } from 'kopeck-client';`,
  kopeck: `import { Kopeck as Client } from 'kopeck-client';
const kopeck = new Client({ apiKey: process.env.KOPECK_KEY!, baseUrl: process.env.KOPECK_URL! });`,
  apiKey: `const apiKey = process.env.KOPECK_KEY!;`,
  baseUrl: `const baseUrl = process.env.KOPECK_URL!;`,
  db: `const db = { readKey: async (_id: string): Promise<string | undefined> => undefined, writeKey: async (_id: string, _key: string) => {} };`,
  secret: `const secret = 'whsec_yours';`,
  onEvent: `const onEvent = (event: import('kopeck-client').PaymentEvent) => console.log(event.id);`,
  rawBody: `const rawBody = '{"id":"evt_1"}';`,
  headers: `import { createHmac } from 'node:crypto';
const t = Math.floor(Date.now() / 1000);
const headers = { 'x-service-signature': \`t=\${t},v1=\${createHmac('sha256', secret).update(\`\${t}.\${rawBody}\`).digest('hex')}\` };`,
  storedBody: `const storedBody = '{"id":"evt_1"}';`,
  keySet: `import { generateKeyPairSync, sign } from 'node:crypto';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const keySet = { keys: [publicKey.export({ format: 'jwk' }) as { crv: string; x: string }] };`,
  storedHeaders: `const signature = sign(null, Buffer.from(\`evt_1.1.\${storedBody}\`), privateKey).toString('base64');
const storedHeaders = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': \`v1a,\${signature}\` };`,
  readPosition: `const readPosition = async (): Promise<string | undefined> => undefined;`,
  writePosition: `const writePosition = async (_position: string) => {};`,
  // A reader that follows has no end of its own.
  handle: `const handle = async (event: import('kopeck-client').PaymentEvent) => process.exit(event.id ? 0 : 1);`,
};

export function withReaderCode(code: string): string {
  const isDeclared = (name: string) =>
    new RegExp(`(const|let|function) ${name}\\b|import (type )?\\{[^}]*\\b${name}\\b`).test(code);
  const needed = Object.keys(readerCode).filter(
    name => new RegExp(`(?<![\\w.'/-])${name}\\b(?![-'/:])`).test(code) && !isDeclared(name),
  );
  return [...needed.map(name => readerCode[name]), code].join('\n');
}
