import type { Sink } from "../io.ts"
import { cleanLine } from "./sanitize.ts"

export interface Progress {
  /** Shown when it is worth it: on a terminal, not before the work has taken a while, a few times a second. */
  update(text: () => string): void
  /** Takes the line away; before anything else is printed. */
  clear(): Promise<void>
}

/** Work that is over by then needs no line. */
const PATIENCE_MS = 500
const INTERVAL_MS = 100

export function createProgress(sink: Sink, now: () => number): Progress {
  if (!sink.isTerminal) return { update: () => undefined, clear: async () => undefined }
  let next = now() + PATIENCE_MS
  let shown: Promise<void> | undefined
  return {
    update(text) {
      if (now() < next) return
      next = now() + INTERVAL_MS
      // Failing to say how far the work is must not stop it.
      shown = sink.write(`\r\u001b[K${cleanLine(text())}`).catch(() => undefined)
    },
    async clear() {
      if (shown === undefined) return
      await shown
      await sink.write("\r\u001b[K")
      shown = undefined
    },
  }
}
