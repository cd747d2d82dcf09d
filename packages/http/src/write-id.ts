/** Names a write, so that a proxy or a browser that sends it twice does not do it twice. */

/** The header of the name. */
export const WRITE_ID = "idempotency-key"

/** Numbers the writes of a client. Its part of the ids is random; pages without https have no `crypto.randomUUID`. */
export function createWriteIds(): () => string {
  const client = crypto.getRandomValues(new Uint32Array(4)).join("-")
  let writes = 0
  return () => `${client}-${++writes}`
}
