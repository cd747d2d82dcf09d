/** Waiting, in all runtimes. */

/** One turn of the event loop, so that what was about to be appended joins the group. Timers take a millisecond; this does not. */
export function eventLoopTurn(): Promise<void> {
  const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown }
  if (setImmediate !== undefined) return new Promise((resolve) => void setImmediate(resolve))
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}

const FIRST_BACKOFF_MS = 25

/** Waits longer at each try, with jitter so that writers who met do not meet again. */
export function backoff(attempt: number): Promise<void> {
  const most = FIRST_BACKOFF_MS * 2 ** attempt
  return new Promise((resolve) => setTimeout(resolve, most / 2 + (Math.random() * most) / 2))
}
