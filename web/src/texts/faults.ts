import { inBoth } from './language.ts';

/** Why a call to the gateway or to a webhook endpoint got no response, by the code that is stored. */
export const faultTexts = inBoth({
  en: {
    blocked_address: 'address not allowed',
    dns: 'DNS lookup failed',
    refused: 'connection refused',
    closed: 'connection closed',
    timeout: 'timed out',
    tls: 'TLS error (certificate or handshake)',
    busy: 'no free connection',
    bad_answer: 'invalid HTTP response',
    AbortError: 'timed out',
    TimeoutError: 'timed out',
    ECONNREFUSED: 'connection refused',
    ECONNRESET: 'connection closed',
    ETIMEDOUT: 'timed out',
    UND_ERR_CONNECT_TIMEOUT: 'timed out',
    UND_ERR_SOCKET: 'connection closed',
  } as Record<string, string>,
  ru: {
    blocked_address: 'адрес запрещён',
    dns: 'ошибка DNS',
    refused: 'в соединении отказано',
    closed: 'соединение закрыто',
    timeout: 'время ожидания истекло',
    tls: 'ошибка TLS (сертификат или соединение)',
    busy: 'нет свободных соединений',
    bad_answer: 'некорректный ответ HTTP',
    AbortError: 'время ожидания истекло',
    TimeoutError: 'время ожидания истекло',
    ECONNREFUSED: 'в соединении отказано',
    ECONNRESET: 'соединение закрыто',
    ETIMEDOUT: 'время ожидания истекло',
    UND_ERR_CONNECT_TIMEOUT: 'время ожидания истекло',
    UND_ERR_SOCKET: 'соединение закрыто',
  },
});
