import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { AnswerTooLongError, callHttp, createFetch, headerOf } from '../../src/http-client/index.ts';
import { startLocalServer } from '../helpers/local-server.ts';

const server = await startLocalServer();
const limits = { clock: systemClock, timeoutMs: 30_000, maxBytes: 100 };

test('a call sends its request, and gets status, headers and body', async () => {
  let sent = '';
  server.answer((request, response) => {
    request.on('data', chunk => (sent += chunk)).on('end', () => response.writeHead(201).end('fine'));
    response.setHeader('x-two', ['a', 'b']);
  });
  const url = `${server.url}/path?query=1`;
  const answer = await callHttp({ url, method: 'PUT', headers: { 'x-one': '1' }, body: 'text', ...limits });
  const request = { method: 'PUT', url: '/path?query=1', headers: { 'x-one': '1' } };
  expect(server.requests[0]).toMatchObject(request);
  expect([sent, answer.status, answer.body.toString()]).toEqual(['text', 201, 'fine']);
  expect([headerOf(answer, 'x-two'), headerOf(answer, 'x-three')]).toEqual(['a, b', undefined]);
});

test('an answer that is too long ends the call', async () => {
  server.answerWith('x'.repeat(limits.maxBytes));
  expect((await callHttp({ url: server.url, ...limits })).body.length).toBe(limits.maxBytes);
  server.answerWith('x'.repeat(limits.maxBytes + 1));
  await expect(callHttp({ url: server.url, ...limits })).rejects.toThrow(AnswerTooLongError);
});

test('a redirect is an answer, and is not followed', async () => {
  server.answer((_request, response) => response.writeHead(302, { location: '/other' }).end());
  expect((await callHttp({ url: server.url, ...limits })).status).toBe(302);
  expect(server.requests).toHaveLength(1);
});

test('a signal ends a call before and while it is under way', async () => {
  const reason = new Error('enough');
  const aborted = AbortSignal.abort(reason);
  await expect(callHttp({ url: server.url, ...limits, signal: aborted })).rejects.toBe(reason);
  const stopping = new AbortController();
  server.answer(() => stopping.abort(reason));
  await expect(callHttp({ url: server.url, ...limits, signal: stopping.signal })).rejects.toBe(reason);
});

test('an address that cannot be called is an error of the call', async () => {
  await expect(callHttp({ url: 'ftp://127.0.0.1/', ...limits })).rejects.toThrow();
  await expect(callHttp({ url: 'http://127.0.0.1:1/', ...limits })).rejects.toThrow('ECONNREFUSED');
});

test('fetch for libraries gives a response that was read', async () => {
  const call = createFetch(limits);
  server.answerWith({ fine: true });
  expect(await (await call(server.url)).json()).toEqual({ fine: true });
  server.answer((_request, response) => response.writeHead(204).end());
  expect((await call(server.url, { method: 'POST', body: '{}' })).status).toBe(204);
});
