// The reference was one page, whose sections had addresses such as /docs/#tag/payments/POST/v1/payments.
const hash = location.hash.replaceAll('%7B', '{').replaceAll('%7D', '}');
const [, method, path] = /\/(get|post)(\/v1\/.+)$/i.exec(hash) ?? [];
if (path) {
  const operation = `${method.toUpperCase()} ${path}`;
  const link = document.querySelector(`[data-operation="${CSS.escape(operation)}"]`);
  if (link) location.replace(link.href);
}
