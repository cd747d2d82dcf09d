/** Puts blobs and sends the lines of a transfer that name them, so that no collector removes the blobs meanwhile; see `areOld`. */
import { areOld } from "./pending.ts"

/** Puts the blobs again if they are old before the send, and if they are after it. */
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
