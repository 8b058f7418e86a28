import { inBoth, type Words } from './language.ts';

/** Why a call to the gateway or to a webhook endpoint got no response, by the code that is stored. */
export const faultTexts = inBoth({
  blocked_address: ['address not allowed', 'адрес запрещён'],
  dns: ['DNS lookup failed', 'ошибка DNS'],
  refused: ['connection refused', 'в соединении отказано'],
  closed: ['connection closed', 'соединение закрыто'],
  timeout: ['timed out', 'время ожидания истекло'],
  tls: ['TLS error (certificate or handshake)', 'ошибка TLS (сертификат или соединение)'],
  busy: ['no free connection', 'нет свободных соединений'],
  bad_answer: ['invalid HTTP response', 'некорректный ответ HTTP'],
  AbortError: ['timed out', 'время ожидания истекло'],
  TimeoutError: ['timed out', 'время ожидания истекло'],
  ECONNREFUSED: ['connection refused', 'в соединении отказано'],
  ECONNRESET: ['connection closed', 'соединение закрыто'],
  ETIMEDOUT: ['timed out', 'время ожидания истекло'],
  UND_ERR_CONNECT_TIMEOUT: ['timed out', 'время ожидания истекло'],
  UND_ERR_SOCKET: ['connection closed', 'соединение закрыто'],
} as Words);
