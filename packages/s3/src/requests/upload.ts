/** One PUT, with a time limit that goes with its size: what is sent is not seen arriving. */
import type { Deps } from "../base/deps.ts"
import type { PutCondition, PutResult } from "../object-store/object-store.ts"
import { sendOnce } from "./request.ts"
import { isTransient, startBackoff } from "./retry.ts"

/** Bytes for which `requestTimeout` lasts: at its default a line of 210 kbit/s passes. */
const BYTES_A_TIMEOUT = 262_144

export async function upload(
  deps: Deps,
  key: string,
  bytes: Uint8Array,
  o: { readonly condition?: PutCondition | undefined; readonly signal?: AbortSignal | undefined } = {},
): Promise<PutResult> {
  const { condition, signal } = o
  return sendOnce(
    deps,
    signal,
    (requestSignal) =>
      deps.store.put(key, bytes, { signal: requestSignal, ...(condition !== undefined && { condition }) }),
    deps.settings.requestTimeout * Math.max(1, Math.ceil(bytes.length / BYTES_A_TIMEOUT)),
  )
}

/** Repeats it: for a key that no other writer uses. */
export async function uploadOwn(
  deps: Deps,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<PutResult> {
  const backoff = startBackoff(deps)
  for (;;) {
    try {
      return await upload(deps, key, bytes, { signal })
    } catch (error) {
      if (!isTransient(error) || !(await backoff.pause(error, signal))) throw error
    }
  }
}
