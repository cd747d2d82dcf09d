/** Waiting for a pending append, as one of those who do. */
import type { Caller, PendingAppend } from "./pending.ts"
import { aborted } from "./errors.ts"
import type { AppendResult } from "./types.ts"
import type { WriteQueue } from "./write-queue.ts"

/** Before the write is sent a signal withdraws the append; afterwards it only ends the waiting. */
export function waitFor(
  item: PendingAppend,
  ids: readonly string[],
  o: { readonly queue: WriteQueue; readonly session: string; readonly signal: AbortSignal | undefined },
): Promise<AppendResult> {
  const { queue, session, signal } = o
  return new Promise((resolve, reject) => {
    if (signal === undefined) {
      item.callers = [...item.callers, { ids, resolve, reject }]
      return
    }
    const off = (): void => signal.removeEventListener("abort", abort)
    const caller: Caller = {
      ids,
      resolve: (result) => (off(), resolve(result)),
      reject: (error) => (off(), reject(error)),
    }
    const abort = (): void => {
      if (queue.withdraw(item, caller, aborted(session, signal, false))) return
      item.callers = item.callers.filter((one) => one !== caller)
      reject(aborted(session, signal, true))
    }
    item.callers = [...item.callers, caller]
    signal.addEventListener("abort", abort, { once: true })
  })
}
