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

export interface Calls {
  made: number
}

/** Counts the synchronous calls of the file system that are made by modules which are loaded from now on. */
export async function countFileCalls(): Promise<Calls> {
  const calls: Calls = { made: 0 }
  const { default: fs } = await import("node:fs")
  const all = fs as unknown as Record<string, unknown>
  for (const [name, call] of Object.entries(all)) {
    if (typeof call === "function" && name.endsWith("Sync")) all[name] = counted(calls, call as AnyCall)
  }
  const { syncBuiltinESMExports } = await import("node:module")
  syncBuiltinESMExports()
  return calls
}

type AnyCall = (...args: unknown[]) => unknown

function counted(calls: Calls, call: AnyCall): AnyCall {
  return function (this: unknown, ...args) {
    calls.made++
    return call.apply(this, args)
  }
}

/** Counts the rows that statements of SQLite return, and the statements. */
export async function countRows(): Promise<Calls> {
  const calls: Calls = { made: 0 }
  const { StatementSync } = await import("node:sqlite")
  const statement = StatementSync.prototype as unknown as Record<string, AnyCall>
  for (const name of ["get", "run", "all"]) {
    const call = statement[name] as AnyCall
    statement[name] = function (this: unknown, ...args) {
      const found = call.apply(this, args)
      calls.made += 1 + (Array.isArray(found) ? found.length : 0)
      return found
    }
  }
  const iterate = statement["iterate"] as (...args: unknown[]) => IterableIterator<unknown>
  statement["iterate"] = function* (this: unknown, ...args) {
    calls.made++
    for (const row of iterate.apply(this, args)) {
      calls.made++
      yield row
    }
  }
  return calls
}
