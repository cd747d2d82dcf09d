/** Counts of work, which do not vary like times: reads, lines, bytes, peak memory. */
import { readFileSync } from "node:fs"
import type { SessionStorage } from "@sessions/core/storage"

export interface Reads {
  calls: number
  lines: number
  bytes: number
}

/** Wraps a storage and counts the lines and bytes of its reads. */
export function countReads(storage: SessionStorage): { readonly storage: SessionStorage; readonly counts: Reads } {
  const counts: Reads = { calls: 0, lines: 0, bytes: 0 }
  const read: SessionStorage["read"] = async function* (...args) {
    counts.calls++
    for await (const chunk of storage.read(...args)) {
      counts.lines += chunk.lines.length
      for (const line of chunk.lines) counts.bytes += Buffer.byteLength(line) + 1
      yield chunk
    }
  }
  const counting = new Proxy(storage, {
    get: (target, key) => {
      if (key === "read") return read
      const value: unknown = Reflect.get(target, key)
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value
    },
  })
  return { storage: counting, counts }
}

/** VmHWM, the peak resident memory of this process in MB; undefined on other systems than Linux. */
export function peakMemoryMB(): number | undefined {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? []
    return kilobytes === undefined ? undefined : Math.round(Number(kilobytes) / 1_024)
  } catch {
    return undefined
  }
}
