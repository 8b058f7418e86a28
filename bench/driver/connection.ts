import { connect } from 'node:net';

export interface Connection {
  send(request: string): void;
  close(): void;
}

/**
 * A keep-alive HTTP connection with one request at a time. Written by hand: the driver shares its cores with the service
 * that it measures, and needs only status and body of an answer.
 */
export function openConnection(
  address: URL,
  onAnswer: (status: number, body: string) => void,
  onLost: () => void,
  localAddress?: string,
): Connection {
  const socket = connect({
    host: address.hostname,
    port: Number(address.port),
    noDelay: true,
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  let received = '';
  let isClosed = false;
  // One character per byte, so that content-length can be compared.
  socket.setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    received += chunk;
    const answer = readAnswer(received);
    if (!answer) return;
    received = '';
    onAnswer(answer.status, answer.body);
  });
  // The close event that follows reports the loss.
  socket.on('error', () => {});
  socket.on('close', () => {
    if (!isClosed) onLost();
  });
  return {
    send: request => void socket.write(request, 'latin1'),
    close: () => {
      isClosed = true;
      socket.destroy();
    },
  };
}

const statusAt = 'HTTP/1.1 '.length;

/** Undefined while the answer is incomplete. */
function readAnswer(text: string): { status: number; body: string } | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
  if (length === undefined) throw new Error(`an answer without a length: ${text.slice(0, headEnd)}`);
  const bodyStart = headEnd + 4;
  if (text.length < bodyStart + Number(length)) return undefined;
  return { status: Number(text.slice(statusAt, statusAt + 3)), body: text.slice(bodyStart) };
}
