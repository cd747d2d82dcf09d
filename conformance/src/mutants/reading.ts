import { type Chunk, isSessionId, type ReadRange, StorageError, utf8Length } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { collect, isWindow, plain, corrupting } from "./sound-subjects.ts"
import { ids, linesOf, type Mutant, mutant } from "./mutant.ts"

/** Wrong in what they give back of a log. */
export const readingMutants: readonly Mutant[] = [
  {
    subject: corrupting("reads bytes that are no UTF-8 as other characters", {
      decode: (line) => `\ufffd${line.slice(1)}`,
    }),
    fails: ["READ-15"],
  },
  {
    subject: corrupting("gives nothing of a window that has damage in it", { window: refusesWindow }),
    fails: ["READ-25"],
  },
  {
    subject: corrupting("begins a window behind the damage nearest to its end, also if that is its last line", {
      window: ({ from, lines }, at) =>
        at === from + lines.length - 1
          ? { from, lines: lines.slice(0, -1) }
          : { from: at + 1, lines: lines.slice(at + 1 - from) },
    }),
    fails: ["READ-26"],
  },
  mutant("lists the first 1,000 only", ["LIST-02", "LIST-06"], (real) => ({
    list: (o = {}) => real.list({ ...o, limit: Math.min(o.limit ?? 1_000, 1_000) }),
  })),
  mutant("counts characters as bytes", ["HEAD-02", "HEAD-03", "DELETE-03"], (real) => ({
    async head(session, o) {
      const head = await real.head(session, o)
      const lines = await linesOf(real, session)
      return head && { ...head, bytes: lines.reduce((sum, line) => sum + line.length + 1, 0) }
    },
  })),
  {
    subject: {
      ...plain,
      name: "measures lines in characters",
      open(location) {
        const max = 100_000
        const real = createMemoryStorage({ location })
        return {
          ...real,
          capabilities: { ...real.capabilities, maxLineBytes: max },
          async append(session, lines, o) {
            if (lines.some((line) => line.length > max)) throw new StorageError("invalid", "Too long.")
            return real.append(session, lines, o)
          },
        }
      },
    },
    fails: ["APPEND-06", "APPEND-07", "READ-07", "READ-17", "LIMITS-02"],
  },
  reading("strips a BOM", ["APPEND-03", "APPEND-04", "APPEND-05"], (line) => [line.replace(/^\uFEFF/, "")]),
  reading("strips a CR", ["APPEND-03", "APPEND-04", "APPEND-05"], (line) => [line.replace(/\r$/, "")]),
  reading("splits on U+2028", ["APPEND-03", "APPEND-04", "APPEND-05"], (line) => line.split("\u2028")),
  reading("parses and writes again", ["APPEND-03", "APPEND-04", "APPEND-05"], (line) => [
    JSON.stringify(JSON.parse(line.replace(/^\uFEFF/, ""))),
  ]),
  mutant("gives a window newest first", ids("READ 03 07 09 16 18 19 21 22 24"), (real) => ({
    async *read(session, range, o) {
      for await (const { from, lines } of real.read(session, range, o)) {
        yield { from, lines: isWindow(range) ? lines.toReversed() : lines }
      }
    },
  })),
  windows("leaves out of a window what fits it exactly", ["READ-16"], { fits: (bytes, most) => bytes < most }),
  windows("counts no LF in a window", ["READ-16"], { sizeOf: utf8Length }),
  windows("counts characters as bytes in a window", ["READ-18"], { sizeOf: (line) => line.length + 1 }),
  windows("gives nothing if the last line is longer than the window", ["READ-17"], { atLeast: 0 }),
  windows("gives two lines at least in a window", ids("READ 03 08 16 17 18"), { atLeast: 2 }),
  ranges("takes `before: 0` for the end", ["READ-20"], (range) => {
    const { before, ...rest } = range
    return isWindow(range) && before === 0 ? rest : range
  }),
  mutant("gives no window before a seq beyond the end", ["READ-19"], (real) => ({
    async *read(session, range, o) {
      const { before = 0 } = (range ?? {}) as Fields
      const head = isSessionId(session) ? await real.head(session) : undefined
      if (head === undefined || before <= head.next) yield* real.read(session, range, o)
    },
  })),
  mutant("begins a window at a chunk's beginning", ["READ-21"], (real) => ({
    async *read(session, range, o) {
      if (!isWindow(range)) return yield* real.read(session, range, o)
      const [first, ...rest] = await collect(real.read(session, range, o))
      // As if an object held 100 lines.
      const within = first !== undefined && first.lines.length > 200 ? first.from % 100 : 0
      if (first !== undefined) yield { from: first.from + within, lines: first.lines.slice(within) }
      yield* rest
    },
  })),
  ranges("does not compare the log of a window", ["READ-22", "READ-23"], (range) => {
    const { log, ...rest } = range
    return isWindow(range) && typeof log === "string" ? rest : range
  }),
  mutant("compares the log of a range only if the range has lines", ["READ-22"], (real) => ({
    async *read(session, range, o) {
      const { log: _, ...rest } = range ?? {}
      const head = isSessionId(session) ? await real.head(session) : undefined
      const chunks = head === undefined ? [] : await collect(real.read(session, rest, o))
      yield* head !== undefined && chunks.length === 0 ? [] : real.read(session, range, o)
    },
  })),
  mutant("takes a missing session for the log that was asked for", ["READ-23"], (real) => ({
    async *read(session, range, o) {
      const { log: _, ...rest } = range ?? {}
      const isMissing = isSessionId(session) && (await real.head(session)) === undefined
      yield* real.read(session, isMissing ? rest : range, o)
    },
  })),
  readingOn("reads a range on to what is appended meanwhile", ["READ-10"], (range) => !isWindow(range)),
  readingOn("reads a window on to what is appended meanwhile", ["READ-24"], isWindow),
  mutant("fails to read a window of what is not there", ["READ-06"], (real) => ({
    async *read(session, range, o) {
      if (isWindow(range) && isSessionId(session) && (await real.head(session)) === undefined)
        throw new StorageError("conflict", "There is no such session.")
      yield* real.read(session, range, o)
    },
  })),
  mutant("reads on in a log that is gone", ["READ-11", "READ-12", "READ-14", "REPLACE-05"], (real) => ({
    async *read(session, range, o) {
      const chunks: Chunk[] = []
      for await (const chunk of real.read(session, range, o)) chunks.push(chunk)
      yield* chunks
    },
  })),
  mutant(
    "pages by time, so that a remade log goes on in the old one",
    ids("APPEND 06, READ 03 07 08 09 11 12 14 16 17 18 19 21, REPLACE 05"),
    (real) => ({
      async *read(session, range, o) {
        const all = await linesOf(real, session, range, o)
        const from = range !== undefined && "from" in range ? (range.from ?? 0) : 0
        for (let seq = 0; seq < all.length; seq += 100) {
          const lines = await linesOf(real, session, { from: from + seq, to: from + Math.min(seq + 100, all.length) })
          if (lines.length > 0) yield { from: from + seq, lines }
        }
      },
    }),
  ),
  mutant(
    "yields an empty chunk for a range without lines",
    ids("OPEN 03 08, CREATE 07, APPEND 07 08 14, CAS 04, READ 04 06 20, DELETE 01 02 04 09 11 16 17, REPLACE 03 08"),
    (real) => ({
      async *read(session, range, o) {
        let some = false
        for await (const chunk of real.read(session, range, o)) {
          some = true
          yield chunk
        }
        if (!some) yield { from: 0, lines: [] }
      },
    }),
  ),
  ranges("makes a number of what is none", ["READ-05"], (range) => {
    const { log, ...numbers } = range
    const made = Object.entries(numbers).map(([name, value]) => {
      const least = name === "maxBytes" ? 1 : 0
      return [name, value === undefined ? value : Math.max(least, Math.trunc(value) || 0)]
    })
    return { ...Object.fromEntries(made), ...(typeof log === "string" && { log }) }
  }),
  ranges("takes a window of a range, and of a window without a size a range", ["READ-27"], (range) => {
    const { from: _from, to: _to, before, ...rest } = range
    if (isWindow(range)) return { ...rest, ...(before !== undefined && { before }) }
    return before === undefined ? range : rest
  }),
  mutant(
    "fails to read what is not there",
    ids("OPEN 03 08, CREATE 07, APPEND 07 08 14, CAS 04, READ 06, DELETE 01 02 04 09 11 16 17, REPLACE 03 08"),
    (real) => ({
      async *read(session, range, o) {
        if (isSessionId(session) && (await real.head(session)) === undefined)
          throw new StorageError("conflict", "There is no such session.")
        yield* real.read(session, range, o)
      },
    }),
  ),
  mutant("ignores after", ["LIST-05"], (real) => ({
    list: ({ limit, signal } = {}) => real.list({ ...(limit !== undefined && { limit }), ...(signal && { signal }) }),
  })),
  mutant("gives a first line without its BOM", ["HEAD-09"], (real) => ({
    async head(session, o) {
      const head = await real.head(session, o)
      if (head === undefined || o?.first !== true) return head
      for await (const { lines } of real.read(session, { from: 0, to: 1 }))
        return { ...head, first: (lines[0] as string).replace(/^\uFEFF/, "") }
      return head
    },
  })),
  mutant("loses the info's next", ["HEAD-05"], (real) => ({
    async head(session, o) {
      const head = await real.head(session, o)
      return head?.info === undefined ? head : { ...head, info: { text: head.info.text, next: head.next } }
    },
  })),
]

type Fields = { readonly [name in "from" | "to" | "before" | "maxBytes"]?: number } & { readonly log?: string }

/** Reads other lines than those that were asked for. */
function ranges(name: string, fails: readonly string[], change: (range: Fields) => object): Mutant {
  return mutant(name, fails, (real) => ({
    read: (session, range, o) => real.read(session, range && change(range), o),
  }))
}

interface Counting {
  readonly sizeOf?: (line: string) => number
  readonly fits?: (bytes: number, most: number) => boolean
  readonly atLeast?: number
}

/** Counts the lines of a window in its own way. */
function windows(name: string, fails: readonly string[], counting: Counting): Mutant {
  const { sizeOf = (line) => utf8Length(line) + 1, fits = (bytes, most) => bytes <= most, atLeast = 1 } = counting
  return mutant(name, fails, (real) => ({
    async *read(session, range, o) {
      // What is wrong, and what has no lines, is the storage's own to say.
      const chunks = isWindow(range) ? await collect(real.read(session, range, o)) : []
      if (!isWindow(range) || chunks.length === 0) return yield* real.read(session, range, o)
      const { before, maxBytes } = range
      const all = await linesOf(real, session, before === undefined ? {} : { to: before })
      let from = all.length
      let bytes = 0
      while (from > 0) {
        bytes += sizeOf(all[from - 1] as string)
        if (!fits(bytes, maxBytes) && all.length - from >= atLeast) break
        from--
      }
      if (from < all.length) yield* real.read(session, { from, to: all.length }, o)
    },
  }))
}

/** Looks for the end again where it should have ended. */
function readingOn(name: string, fails: readonly string[], does: (range: ReadRange | undefined) => boolean): Mutant {
  return mutant(name, fails, (real) => ({
    async *read(session, range, o) {
      let next: number | undefined
      for await (const chunk of real.read(session, range, o)) {
        yield chunk
        next = chunk.from + chunk.lines.length
      }
      const { to, before } = (range ?? {}) as Fields
      if (next !== undefined && to === undefined && before === undefined && does(range))
        yield* real.read(session, { from: next }, o)
    },
  }))
}

function refusesWindow(): never {
  throw new StorageError("corrupt", "A line of the window is not UTF-8.")
}

function reading(name: string, fails: readonly string[], change: (line: string) => readonly string[]): Mutant {
  return mutant(name, fails, (real) => ({
    async *read(session, range, o) {
      for await (const { from, lines } of real.read(session, range, o)) yield { from, lines: lines.flatMap(change) }
    },
  }))
}
