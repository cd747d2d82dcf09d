/** A progress line on standard error, for a terminal only. */
import type { Sink } from "../io.ts"
import { cut, formatNumber } from "./format.ts"
import { sanitizeLine } from "./sanitize.ts"

export interface Progress {
  /**
   * Says what is being done: shown first after half a second, at most ten times a second, and every second with the time since the
   * first call, so that a long step shows that it goes on.
   */
  update(text: () => string): void
  /** Removes the line and ends it. Call it before any other output. */
  clear(): Promise<void>
}

/** Shorter work shows no progress. */
const DELAY_MS = 500
const INTERVAL_MS = 100
const REPEAT_MS = 1_000

export const NO_PROGRESS: Progress = { update: () => undefined, clear: async () => undefined }

export function createProgress(sink: Sink, now: () => number): Progress {
  if (!sink.isTerminal) return NO_PROGRESS
  let next = now() + DELAY_MS
  let running: { readonly since: number; readonly timer: ReturnType<typeof setInterval> } | undefined
  let latest = (): string => ""
  let shown: Promise<void> | undefined
  const show = (since: number): void => {
    if (now() < next) return
    next = now() + INTERVAL_MS
    const seconds = Math.floor((now() - since) / 1_000)
    const line = sanitizeLine(`${latest()}${seconds < 1 ? "" : ` (${formatNumber(seconds)} s)`}`)
    // A line that wraps could not be removed. A failure to show progress must not stop the work.
    shown = sink.write(`\r\u001b[K${cut(line, (sink.columns ?? 80) - 1)}`).catch(() => undefined)
  }
  return {
    update(text) {
      latest = text
      const since = running?.since ?? now()
      running ??= { since, timer: setInterval(() => show(since), REPEAT_MS) }
      show(since)
    },
    async clear() {
      clearInterval(running?.timer)
      running = undefined
      if (shown === undefined) return
      await shown
      await sink.write("\r\u001b[K")
      shown = undefined
    },
  }
}
