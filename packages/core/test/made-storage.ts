/** A log of any size that is not in memory: its lines are generated when they are read, and reads are counted. */
import { createMemoryStorage } from "@sessions/memory"
import { checkRange } from "../src/storage/checks.ts"
import { type Chunk, MAX_CHUNK_BYTES, type SessionStorage } from "../src/storage/contract.ts"
import { windowStart } from "../src/storage/pages.ts"
import { knownTips } from "./stored.ts"

/** A run of lines of one length. */
export interface Stretch {
  readonly lines: number
  readonly lineBytes: number
  /** The line at a position, ASCII, at most `lineBytes` long; it is padded with spaces. */
  readonly lineAt: (seq: number) => string
}

export interface MadeStorage extends SessionStorage {
  readonly bytes: number
  readonly counted: { bytes: number; lines: number; reads: number }
}

export function createMadeStorage(stretches: readonly Stretch[]): MadeStorage {
  const ends = runningSums(stretches.map(({ lines }) => lines))
  const next = ends.at(-1) ?? 0
  const bytes = stretches.reduce((sum, { lines, lineBytes }) => sum + lines * (lineBytes + 1), 0)
  const counted = { bytes: 0, lines: 0, reads: 0 }
  const lineAt = (seq: number): string => {
    const stretch = stretches[ends.findIndex((end) => seq < end)] as Stretch
    return stretch.lineAt(seq).padEnd(stretch.lineBytes)
  }
  return {
    ...createMemoryStorage(),
    description: "made",
    bytes,
    counted,
    head: async () => ({ next, log: "made", bytes, updatedAt: 0, info: { text: knownTips(next - 1), next } }),
    async *read(_, range, { signal } = {}) {
      counted.reads++
      const { from: first, to, maxBytes } = checkRange(range)
      const end = Math.min(to, next)
      const from = maxBytes === undefined || end === 0 ? first : windowStart(linesBefore(lineAt, end), end, maxBytes)
      for (const chunk of chunksOf(lineAt, from, end)) {
        counted.lines += chunk.lines.length
        signal?.throwIfAborted()
        for (const line of chunk.lines) counted.bytes += line.length + 1
        yield chunk
      }
    },
  }
}

function* linesBefore(lineAt: (seq: number) => string, before: number): Iterable<string> {
  for (let seq = before - 1; seq >= 0; seq--) yield lineAt(seq)
}

function* chunksOf(lineAt: (seq: number) => string, from: number, to: number): Iterable<Chunk> {
  let lines: string[] = []
  let bytes = 0
  for (let seq = from; seq < to; seq++) {
    const line = lineAt(seq)
    if (lines.length > 0 && bytes + line.length + 1 > MAX_CHUNK_BYTES) {
      yield { from: seq - lines.length, lines }
      lines = []
      bytes = 0
    }
    lines.push(line)
    bytes += line.length + 1
  }
  if (lines.length > 0) yield { from: to - lines.length, lines }
}

function runningSums(numbers: readonly number[]): number[] {
  let sum = 0
  return numbers.map((number) => (sum += number))
}
