/** The random commands of the sequential property. They are data, so that a failing list can be printed and shrunk. */
import type { ReadRange } from "@sessions/core/storage"
import * as fc from "fast-check"
import { exactLines } from "../helpers/lines.ts"

/** The `expect` of an append: the newest head that the session returned, its first head, 0, or a head beyond the end. */
export type Expect = "newest" | "first" | "none" | "beyond"

export type Command =
  | { readonly do: "append"; readonly session: string; readonly lines: readonly string[]; readonly expect: Expect }
  | { readonly do: "head" | "delete"; readonly session: string }
  | { readonly do: "read"; readonly session: string; readonly range: ReadRange }
  | { readonly do: "replace"; readonly session: string; readonly lines: readonly string[]; readonly expect: Expect }
  | { readonly do: "list" | "reopen" | "blobs.list" }
  | {
      readonly do: "docs.put"
      readonly key: string
      readonly text: string
      readonly expect: "current" | "none" | "other"
    }
  | { readonly do: "docs.delete"; readonly key: string; readonly expect: "current" | "other" }
  | { readonly do: "docs.get"; readonly key: string }
  | { readonly do: "docs.list"; readonly prefix: string }
  | { readonly do: "blobs.put" | "blobs.get" | "blobs.delete"; readonly bytes: readonly number[] }

const sessions = fc.constantFrom("a", "A", "b", "s.1", "aux")
const expects = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Expect>("newest") },
  { weight: 3, arbitrary: fc.constant<Expect>("none") },
  { weight: 1, arbitrary: fc.constantFrom<Expect>("first", "beyond") },
)
const lines = fc.array(
  fc.oneof(
    fc.nat(999).map((n) => JSON.stringify({ n })),
    fc.constantFrom(...exactLines),
    fc.integer({ min: 1_000, max: 9_000 }).map((length) => JSON.stringify("é".repeat(length))),
  ),
  { minLength: 1, maxLength: 6 },
)
const seq = fc.nat(14)
/** About a line, some of them, all of them. */
const windowBytes = fc.oneof(
  fc.integer({ min: 1, max: 200 }),
  fc.integer({ min: 1, max: 60_000 }),
  fc.constant(1_000_000),
)
const ranges = fc.oneof<fc.Arbitrary<ReadRange>[]>(
  fc.constant({}),
  seq.map((from) => ({ from })),
  seq.map((to) => ({ to })),
  fc.record({ from: seq, to: seq }),
  windowBytes.map((maxBytes) => ({ maxBytes })),
  fc.record({ maxBytes: windowBytes, before: seq }),
)
const keys = fc.constantFrom("x", "X", "pointers.json", "sessions/a/x", "sessions/b/x", "sessions/a/y")
const texts = fc.oneof(fc.json({ maxDepth: 1 }), fc.constantFrom("", "é", "\uFEFF", "line\nbreak\r\n"))
const bytes = fc.array(fc.nat(255), { maxLength: 3 })

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: fc.constant("append" as const), session: sessions, lines, expect: expects }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("read" as const), session: sessions, range: ranges }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("head" as const, "delete" as const), session: sessions }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("replace" as const), session: sessions, lines, expect: expects }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("list" as const, "reopen" as const, "blobs.list" as const) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("docs.put" as const),
      key: keys,
      text: texts,
      expect: fc.constantFrom("current" as const, "none" as const, "other" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("docs.delete" as const),
      key: keys,
      expect: fc.constantFrom("current" as const, "other" as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("docs.get" as const), key: keys }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("docs.list" as const), prefix: fc.constantFrom("", "x", "sessions/a/") }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom("blobs.put" as const, "blobs.get" as const, "blobs.delete" as const),
      bytes,
    }),
  },
)

export function commandLists(maxLength: number): fc.Arbitrary<readonly Command[]> {
  return fc.array(command, { minLength: 1, maxLength, size: "max" })
}

/** A command as text for a failure message. */
export function commandText({ do: name, ...args }: Command): string {
  return `${name} ${JSON.stringify(args)}`
}
