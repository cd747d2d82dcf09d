/** Only the signal of the options of a call, to pass on: every call rejects options that it does not know. */
import type { CallOptions } from "@sessions/core/storage"

export function signalOf({ signal }: CallOptions): CallOptions {
  return signal === undefined ? {} : { signal }
}
