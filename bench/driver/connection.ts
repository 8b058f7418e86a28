import { connect } from 'node:net';

export interface Connection {
  send(request: string): void;
  close(): void;
}

/**
 * A connection that is kept alive, with one request under way at a time. Written by hand: the driver shares its cores
 * with what it measures, and reads nothing of an answer but its status and its body.
 */
export function openConnection(
  address: URL,
  onAnswer: (status: number, body: string) => void,
  onLost: () => void,
): Connection {
  const socket = connect({ host: address.hostname, port: Number(address.port), noDelay: true });
  let received = '';
  let isOver = false;
  // One character a byte, so that lengths can be compared.
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
    const answer = readAnswer(received);
    if (!answer) return;
    received = '';
    onAnswer(answer.status, answer.body);
  });
  // What happened is told by the close that follows.
  socket.on('error', () => {});
  socket.on('close', () => {
    if (!isOver) onLost();
  });
  return {
    send: request => void socket.write(request, 'latin1'),
    close: () => {
      isOver = true;
      socket.destroy();
    },
  };
}

const statusAt = 'HTTP/1.1 '.length;

/** Undefined while it has not come to its end. */
function readAnswer(text: string): { status: number; body: string } | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${text.slice(0, headEnd)}`);
  const bodyStart = headEnd + 4;
  if (text.length < bodyStart + Number(length)) return undefined;
  return { status: Number(text.slice(statusAt, statusAt + 3)), body: text.slice(bodyStart) };
}
