/** One PUT, with a time limit that goes with its size: what is sent is not seen arriving. */
import type { Deps } from "../base/deps.ts"
import type { PutCondition, PutResult } from "../object-store/object-store.ts"
import { sendOnce } from "./request.ts"
import { startBackoff, withRetries } from "./retry.ts"

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
    timeoutMs(deps, bytes),
  )
}

/** Repeats it: for a key that no other writer uses. */
export async function uploadOwn(
  deps: Deps,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<PutResult> {
  const send = (requestSignal: AbortSignal): Promise<PutResult> => deps.store.put(key, bytes, { signal: requestSignal })
  return withRetries(deps, signal, send, startBackoff(deps), timeoutMs(deps, bytes))
}

function timeoutMs({ settings }: Deps, { length }: Uint8Array): number {
  return settings.requestTimeout * Math.max(1, Math.ceil(length / BYTES_A_TIMEOUT))
}
