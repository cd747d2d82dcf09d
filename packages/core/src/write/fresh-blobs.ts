/**
 * Keeps blobs young while the lines that name them are sent. Until these lines are in the log, a collector in another process takes the
 * blobs for unused, and a process may be suspended at any point for longer than a collector waits.
 */

/** Milliseconds. Far less than the day after which `collectBlobs` removes a blob that no log names, far more than a send usually takes. */
const BLOBS_ARE_OLD = 60 * 60 * 1000

/** `putAt`: when the put began. */
export function areOld(putAt: number, now: number): boolean {
  return now - putAt > BLOBS_ARE_OLD
}

/** Puts blobs, then sends the lines that name them. Puts the blobs again if they are old before the send, and if they are after it. */
export async function sendWithBlobs<T>(
  put: () => Promise<unknown>,
  send: () => Promise<T>,
  now: () => number,
): Promise<T> {
  let putAt = now()
  await put()
  if (areOld(putAt, now())) {
    putAt = now()
    await put()
  }
  try {
    return await send()
  } finally {
    if (areOld(putAt, now())) await put()
  }
}
