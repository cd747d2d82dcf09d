/** The law of writers: an imported export has the context of the session, whether it began here or in a file of the format. */
import { type Session, SessionError } from "@sessions/core"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Format, WriteOptions } from "../src/base/format.ts"
import { fixturesOf } from "./fixtures.ts"
import { type Golden, importText, seed, written, WRITTEN_RUNS } from "./laws.ts"
import { contextOf, continued, type Op, ops, sessionOf } from "./random-session.ts"

export interface WrittenLaws {
  /** The context as it is in a file, by the losses that the writer named; undefined if it cannot be compared. */
  readonly shown?: (context: readonly string[], losses: ReadonlySet<string>) => readonly string[] | undefined
  /** The context that is compared. */
  readonly repair?: "none" | "synthesize"
  /** The calls after an import whose context a file can hold exactly. Default: all. */
  readonly goesOn?: (op: Op, branches: WriteOptions["branches"]) => boolean
}

const says = (text: string): Op => ({ op: "say", role: "user", text })

/** Sessions that writers had wrong, by what their compactions keep. */
const FOUND: readonly (readonly [kept: string, list: readonly Op[]])[] = [
  [
    "messages around a deleted one",
    [says("t1"), { op: "call", text: "t2", isError: false }, { op: "delete", at: 2 }, { op: "compact", at: 0 }],
  ],
  [
    "a message that an earlier compaction does not keep",
    [says("t1"), says("t2"), { op: "compact", at: 1 }, { op: "compact", at: 0 }],
  ],
  [
    "a message of another branch, which is nothing",
    [says("t1"), says("t2"), { op: "branch", at: 0 }, says("t3"), { op: "compact", at: 1 }],
  ],
  [
    "the first of the results of one line, in a file of Claude Code",
    [
      { op: "branch", at: 10 },
      { op: "compact", at: 0 },
      { op: "call", text: "t", isError: false },
    ],
  ],
  [
    "the end of a sidechain, in a file of Claude Code",
    [
      { op: "branch", at: 7 },
      { op: "compact", at: 1 },
    ],
  ],
]
const BRANCHES = [undefined, "path"] as const

export function testWritten(
  format: Format,
  goldens: readonly Golden[],
  { shown = (context) => context, repair = "synthesize", goesOn }: WrittenLaws = {},
): void {
  /** The context of the session, and that of its imported export. */
  const contextsOf = async (session: Session, branches: WriteOptions["branches"]): Promise<[unknown, unknown]> => {
    const losses = new Set<string>()
    const o = branches === undefined ? {} : { branches }
    const text = await written(format, session, { ...o, note: ({ what }) => losses.add(what) })
    expect(await written(format, session, o)).toBe(text)
    const expected = shown(await contextOf(session, { repair }), losses)
    if (expected === undefined || expected.length === 0) return [undefined, undefined]
    const again = await importText(format, { text })
    return [expected, shown(await contextOf(again.session, { repair }), losses)]
  }

  const branches = fc.constantFrom(...BRANCHES)

  /** The golden file's session, with the calls that a file can hold. */
  const wentOn = async (golden: Golden, list: readonly Op[], o: WriteOptions["branches"]): Promise<Session> => {
    const { session } = await importText(format, golden)
    await continued(session, goesOn === undefined ? list : list.filter((op) => goesOn(op, o)))
    return session
  }

  test("a session that goes on after its file ended anywhere has the same context when its file is imported", async () => {
    for (const golden of [...goldens, ...fixturesOf([format.format]).map((one) => one.golden)]) {
      for (const cut of endingEarlier(golden)) {
        for (const [role, o] of [
          ["user", undefined],
          ["assistant", "path"],
        ] as const) {
          const session = await wentOn(cut, [{ op: "say", role, text: "t" }], o).catch(ignoreIfNoSession)
          if (session === undefined) continue
          const [expected, found] = await contextsOf(session, o)
          expect(found, `${cut.text.length} of ${golden.text.length} characters`).toEqual(expected)
        }
      }
    }
  })

  test.each(FOUND)("a compaction that keeps %s has the same context when its file is imported", async (_, list) => {
    for (const o of BRANCHES) {
      const sessions = [await sessionOf(list)]
      for (const golden of goldens) sessions.push(await wentOn(golden, list, o))
      for (const session of sessions) {
        const [expected, found] = await contextsOf(session, o)
        expect(found).toEqual(expected)
      }
    }
  })

  test("a session of any origin has the same context when its file is imported", async () => {
    await fc.assert(
      fc.asyncProperty(ops, branches, async (list, o) => {
        const [expected, found] = await contextsOf(await sessionOf(list), o)
        expect(found).toEqual(expected)
      }),
      { numRuns: WRITTEN_RUNS, seed },
    )
  })

  test("a session that went on after its import has the same context when its file is imported", async () => {
    const file: fc.Arbitrary<[Golden, readonly Op[]]> = fc.tuple(fc.constantFrom(...goldens), ops)
    await fc.assert(
      fc.asyncProperty(file, branches, async ([golden, list], o) => {
        const [expected, found] = await contextsOf(await wentOn(golden, list, o), o)
        expect(found).toEqual(expected)
      }),
      { numRuns: WRITTEN_RUNS, seed },
    )
  })
}

/** The file as it was while its program wrote it: up to each line, or each message of a document. */
function endingEarlier({ text, beside }: Golden): readonly Golden[] {
  const more = beside === undefined ? {} : { beside }
  if (!text.startsWith('{"info"') && !text.startsWith("{\n")) {
    const lines = text.split("\n").filter((line) => line !== "")
    return lines.map((_, end) => ({ text: `${lines.slice(0, end + 1).join("\n")}\n`, ...more }))
  }
  const { messages, ...document } = JSON.parse(text) as { readonly messages: readonly unknown[] }
  return messages.map((_, end) => ({
    text: JSON.stringify({ ...document, messages: messages.slice(0, end + 1) }),
    ...more,
  }))
}

function ignoreIfNoSession(error: unknown): undefined {
  if (!(error instanceof SessionError)) throw error
}
