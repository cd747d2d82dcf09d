import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import type { MemoryLocation } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { holdsAsync } from "../../test/property.ts"
import { assistant, codeOf, contextTexts, storedEntries, user } from "../../test/writers.ts"
import { SUMMARY_HEADINGS, SUMMARY_SYSTEM_PROMPT } from "../compaction/prompts.ts"
import type { CompactionResult, SummarizeRequest } from "../compaction/types.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { SessionEvents } from "./events.ts"
import { createSessions } from "./repository.ts"
import type { SessionsOptions } from "./repository.ts"
import type { Session } from "./types.ts"

const SUMMARY = SUMMARY_HEADINGS.join("\nwhat was done\n")
const FILLER = "-".repeat(4_000)

test("the summary stands for what was before the kept part, here and in a session that is opened anew", async () => {
  const { session, reopen, location } = await start()
  const { ids } = await session.append([user(`a ${FILLER}`), assistant(`b ${FILLER}`), user("c"), assistant("d")])
  const before = await storedEntries(location)
  const { tokens } = await session.context()
  const done = await session.compact({ summarize: async () => SUMMARY, keepRecentTokens: 1 })
  const after = await storedEntries(location)
  expect(after.slice(0, -1)).toEqual(before)
  expect(after.at(-1)).toMatchObject({
    id: done.entryId,
    type: "compaction",
    firstKeptEntryId: ids[3],
    firstKeptSeq: 4,
    tokensBefore: tokens,
    state: { thinkingLevel: "off" },
    readFiles: [],
    modifiedFiles: [],
  })
  expect(done.tokensBefore).toBe(tokens)
  expect(done.tokensAfter).toBeLessThan(tokens)
  await session.append(user("e"))
  for (const open of [session, await reopen()]) {
    const texts = await contextTexts(open)
    expect(texts.slice(1)).toEqual(["d", "e"])
    expect(texts[0]).toContain(`<summary>\n${done.summary}\n</summary>`)
  }
  expect((await session.messages()).messages).toHaveLength(5)
})

test("every message that shows is summarized or kept, none twice, and nothing that was taken out comes back", async () => {
  await holdsAsync(
    fc.asyncProperty(scripts, fc.array(fc.nat({ max: 120 }), { minLength: 1, maxLength: 3 }), async (script, keeps) => {
      const { session, location, reopen } = await start()
      await play(session, script)
      let covered = new Set<string>()
      for (const keepRecentTokens of keeps) {
        const shown = markersOf(await contextOf(session))
        const leftOut = await strays(session)
        const lines = (await storedEntries(location)).length
        const asked: SummarizeRequest[] = []
        const summarize = async (request: SummarizeRequest): Promise<string> => (asked.push(request), "short")
        const done = await session.compact({ summarize, keepRecentTokens }).catch((error: unknown) => error as Error)
        const grown = (await storedEntries(location)).length - lines
        if (done instanceof Error) {
          expect(done).toMatchObject({ code: "compaction_failed" })
          expect(grown).toBe(0)
          continue
        }
        expect(grown).toBe(1)
        const summarized = markersOf(asked.map(({ prompt }) => prompt).join())
        const context = await session.context()
        const kept = markersOf(await contextOf(session))
        expect(summarized.filter((marker) => kept.includes(marker))).toEqual([])
        expect([...summarized, ...kept].toSorted()).toEqual(shown.toSorted())
        expect(summarized.filter((marker) => covered.has(marker))).toEqual([])
        covered = new Set([...covered, ...summarized])
        for (const stray of await strays(session)) expect(leftOut).toContain(stray)
        expect(context.tokens).toBe(done.tokensAfter)
        expect(done.tokensAfter).toBeLessThan(done.tokensBefore)
        expect((await (await reopen()).context()).messages).toEqual(context.messages)
        await play(session, [
          ["user", 3],
          ["assistant", 4],
        ])
      }
    }),
    120,
  )
})

test("each summary reaches the next prompt, and files are gathered over all of them, five compactions long", async () => {
  const { session, reopen, location } = await start()
  const written: string[] = []
  for (let round = 1; round <= 5; round++) {
    const path = (name: string, args: object): object => ({
      type: "toolCall",
      id: `${name}${round}`,
      name,
      arguments: args,
    })
    const content = [
      path("read", { path: `read${round}.ts` }),
      path("edit_file", { path: `edit${round}.ts` }),
      ...(round === 3 ? [path("write", { path: "read1.ts" })] : []),
    ]
    const results = content.map((call) => ({
      type: "message",
      message: { role: "toolResult", toolCallId: (call as { id: string }).id, isError: false, content: FILLER },
    }))
    const turn = [
      user(`ask ${round} ${FILLER}`),
      { type: "message", message: { role: "assistant", content } },
      ...results,
      assistant("ok"),
    ]
    await session.append([
      ...turn,
      { type: "model_change", provider: "p", model: `m${round}` },
    ] as unknown as NewEntry[])
    const asked: SummarizeRequest[] = []
    const summarize = async (request: SummarizeRequest): Promise<string> => (
      asked.push(request), `${SUMMARY}\nround ${round}`
    )
    const { summary } = await session.compact({ summarize, keepRecentTokens: 0 })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.prompt).toContain(`ask ${round}`)
    expect(asked[0]?.prompt).not.toContain(`ask ${round - 1} `)
    if (round > 1)
      expect(asked[0]?.prompt).toContain(`<previous-summary>\n${SUMMARY}\nround ${round - 1}\n</previous-summary>`)
    else expect(asked[0]?.prompt).not.toContain("<previous-summary>")
    written.push(summary)
  }
  const last = (await storedEntries(location)).at(-1)
  expect(last).toMatchObject({
    readFiles: ["read2.ts", "read3.ts", "read4.ts", "read5.ts"],
    modifiedFiles: ["edit1.ts", "edit2.ts", "edit3.ts", "edit4.ts", "edit5.ts", "read1.ts"],
    state: { models: { default: { provider: "p", model: "m5" } } },
  })
  expect(written[4]?.match(/<read-files>/g)).toHaveLength(1)
  const context = await (await reopen()).context()
  expect(context.model).toEqual({ provider: "p", model: "m5" })
  expect(context.messages).toHaveLength(1)
})

test("a session that was compacted opens by reading its live end", async () => {
  const location = createMemoryLocation()
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s" })
  for (let n = 0; n < 5; n++) {
    await session.append(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? user(FILLER) : assistant(FILLER))))
    await session.compact({ summarize: async () => SUMMARY, keepRecentTokens: 1_500 })
  }
  const storage = createCountingStorage(createMemoryStorage({ location }))
  const opened = await createSessions({ storage }).open("s")
  expect((await opened.context()).messages).toHaveLength(3)
  const { bytes } = (await storage.head("s")) as { bytes: number }
  expect(storage.counted.units).toBeLessThan(bytes / 6)
})

test("the beginning of a turn that is split is summarized apart", async () => {
  const { session } = await start()
  await session.append([
    user(`one ${FILLER}`),
    assistant(`two ${FILLER}`),
    user(`three ${FILLER}`),
    assistant(`four ${FILLER}`),
    assistant("five"),
  ])
  const asked: SummarizeRequest[] = []
  const summarize = async (request: SummarizeRequest): Promise<string> => (
    asked.push(request), `answer ${asked.length}`
  )
  const { summary } = await session.compact({ summarize, keepRecentTokens: 1, instructions: "Mind the tests." })
  expect(asked.map(({ prompt }) => markers(prompt, ["one", "two", "three", "four", "five"]))).toEqual([
    ["one", "two"],
    ["three", "four"],
  ])
  for (const { system, prompt } of asked) {
    expect(system).toBe(SUMMARY_SYSTEM_PROMPT)
    expect(prompt.endsWith("\n\nMind the tests.")).toBe(true)
  }
  expect((asked[0]?.maxTokens ?? 0) > (asked[1]?.maxTokens ?? 0)).toBe(true)
  expect(summary).toBe("answer 1\n\n---\n\n**Turn Context (split turn):**\n\nanswer 2")
})

test("with nothing new but the beginning of a turn, the summary before it stays in front", async () => {
  const { session } = await start()
  await session.append([user(`one ${FILLER}`), assistant(`two ${FILLER}`)])
  const { summary } = await session.compact({ summarize: async () => SUMMARY, keepRecentTokens: 0 })
  await session.append([user(`three ${FILLER}`), assistant(`four ${FILLER}`), assistant("five")])
  const again = await session.compact({ summarize: async () => "the beginning", keepRecentTokens: 1 })
  expect(again.summary).toBe(`${summary}\n\n---\n\n**Turn Context (split turn):**\n\nthe beginning`)
})

test("changes of model and mode just before the cut go with the kept part", async () => {
  const { session, location } = await start()
  await session.append([
    user(FILLER),
    assistant(FILLER),
    { type: "mode_change", mode: "plan", id: "mode" },
    user("kept"),
    assistant("kept too"),
  ])
  await session.compact({ summarize: async () => SUMMARY, keepRecentTokens: 3 })
  expect((await storedEntries(location)).at(-1)).toMatchObject({ firstKeptEntryId: "mode", firstKeptSeq: 3 })
  expect((await contextTexts(session)).slice(1)).toEqual(["kept", "kept too"])
})

test("a summarizer that fails, says nothing or is aborted writes nothing, and the session can be compacted afterwards", async () => {
  const { session, location, told } = await start()
  await session.append([user(FILLER), assistant(FILLER), user("c")])
  const lines = (await storedEntries(location)).length
  const abort = new AbortController()
  const attempts = [
    [() => session.compact({ summarize: async () => Promise.reject(new Error("overloaded")) }), "compaction_failed"],
    [
      () =>
        session.compact({
          summarize: () => {
            throw new Error("thrown")
          },
        }),
      "compaction_failed",
    ],
    [() => session.compact({ summarize: async () => "  \n" }), "compaction_failed"],
    [() => session.compact({ summarize: async () => undefined as never }), "compaction_failed"],
    [() => session.compact({ summarize: async () => SUMMARY, signal: AbortSignal.abort() }), "aborted"],
    [
      // One that does not look at its signal, and never answers.
      () =>
        session.compact({
          summarize: async () => (abort.abort(), new Promise<string>(() => undefined)),
          signal: abort.signal,
        }),
      "aborted",
    ],
  ] as const
  for (const [attempt, code] of attempts) expect(await codeOf(keeping(attempt))).toBe(code)
  expect((await storedEntries(location)).length).toBe(lines)
  const failures = told.filter(([name]) => name === "compact_failed")
  expect(failures).toHaveLength(5)
  await session.compact({ summarize: async () => SUMMARY, keepRecentTokens: 1 })

  function keeping(attempt: () => Promise<CompactionResult>): Promise<CompactionResult> {
    const { compact } = session
    session.compact = (o) => compact.call(session, { keepRecentTokens: 1, ...o })
    try {
      return attempt()
    } finally {
      session.compact = compact
    }
  }
})

test("where there is nothing to cut, or nothing to gain, it says so and writes nothing", async () => {
  const { session, location } = await start()
  const summarize = async (): Promise<string> => SUMMARY
  expect(await codeOf(session.compact({ summarize }))).toBe("compaction_failed")
  await session.append([user("a"), assistant("b")])
  await expect(session.compact({ summarize })).rejects.toThrow(/nothing to cut/)
  await expect(session.compact({ summarize: async () => FILLER, keepRecentTokens: 1 })).rejects.toThrow(
    /would not be shorter/,
  )
  for (const keepRecentTokens of [-1, Number.NaN, "5" as never]) {
    expect(await codeOf(session.compact({ summarize, keepRecentTokens }))).toBe("invalid")
  }
  expect(await storedEntries(location)).toHaveLength(2)
})

test("what is appended while the summary is made is kept", async () => {
  const { session } = await start()
  await session.append([user(FILLER), assistant(FILLER)])
  const summarize = async (): Promise<string> => (await session.append(user("meanwhile")), SUMMARY)
  await session.compact({ summarize, keepRecentTokens: 0 })
  expect((await contextTexts(session)).slice(1)).toEqual(["meanwhile"])
})

test("what waits for its hooks while the summary is made is kept too", async () => {
  let pass = (): void => undefined
  const hooks: SessionsOptions["hooks"] = {
    append: async (entry) => {
      if (JSON.stringify(entry).includes("meanwhile")) await new Promise<void>((resolve) => (pass = resolve))
    },
  }
  const { session } = await start({ hooks })
  await session.append([user(FILLER), assistant(FILLER)])
  const compacted = session.compact({
    summarize: async () => {
      void session.append(user("meanwhile"))
      setImmediate(() => pass())
      return SUMMARY
    },
    keepRecentTokens: 0,
  })
  await compacted
  expect((await contextTexts(session)).slice(1)).toEqual(["meanwhile"])
})

test("a session that went elsewhere meanwhile is not compacted: another branch, another compaction, a reset, something taken out", async () => {
  const ways: ((session: Session, ids: readonly string[], elsewhere: Session) => Promise<unknown>)[] = [
    (session, ids) => session.branch(ids[0] as string),
    (session) => session.resetLeaf(),
    (session) => session.append({ type: "reset_boundary" }),
    (session, ids) => session.tombstone(ids[1] as string),
    (session, ids) => session.edit(ids[1] as string, null),
    (session) =>
      session.append({
        type: "compaction",
        id: "c",
        summary: "s",
        firstKeptEntryId: "c",
        tokensBefore: 1,
        readFiles: [],
        modifiedFiles: [],
      }),
    (_, __, elsewhere) => elsewhere.append(user("another writer")),
  ]
  for (const way of ways) {
    const { session, reopen, location, told } = await start()
    const { ids } = await session.append([user(FILLER), assistant(FILLER), user("c"), assistant("d")])
    const elsewhere = await reopen()
    const summarize = async (): Promise<string> => (await way(session, ids, elsewhere), SUMMARY)
    await expect(session.compact({ summarize, keepRecentTokens: 1 })).rejects.toThrow(/moved/)
    expect((await storedEntries(location)).filter(({ summary }) => summary === SUMMARY)).toEqual([])
    expect(told.at(-1)?.[0]).toBe("compact_failed")
  }
})

test("a side entry of another writer does not stop a compaction", async () => {
  const { session, reopen } = await start()
  await session.append([user(FILLER), assistant(FILLER)])
  const elsewhere = await reopen()
  await session
    .compact({ summarize: async () => (await elsewhere.title("named"), SUMMARY), keepRecentTokens: 0 })
    .catch(() => undefined)
  expect(await (await reopen()).info()).toMatchObject({ title: "named" })
})

test("one compaction at a time", async () => {
  const { session } = await start()
  await session.append([user(FILLER), assistant(FILLER)])
  let answer = (_: string): void => undefined
  const first = session.compact({ summarize: () => new Promise((resolve) => (answer = resolve)), keepRecentTokens: 0 })
  await expect(session.compact({ summarize: async () => SUMMARY, keepRecentTokens: 0 })).rejects.toThrow(/under way/)
  answer(SUMMARY)
  await first
})

test("a session that is closed meanwhile is not compacted behind its owner's back", async () => {
  const { session, location } = await start()
  await session.append([user(FILLER), assistant(FILLER)])
  const summarize = async (): Promise<string> => (await session.close(), SUMMARY)
  expect(await codeOf(session.compact({ summarize, keepRecentTokens: 0 }))).toBe("closed")
  expect(await storedEntries(location)).toHaveLength(2)
})

test("a hook before may refuse; one after is told, and reported where it throws", async () => {
  const calls: unknown[] = []
  let refuse = true
  const hooks: SessionsOptions["hooks"] = {
    compact: {
      before: ({ session, prompt }) => {
        calls.push(["before", session, prompt.includes("<conversation>")])
        if (refuse) throw new Error("Not now.")
      },
      after: async ({ session, entryId }) => {
        calls.push(["after", session, entryId])
        throw new Error("thrown after")
      },
    },
  }
  const { session, location, told } = await start({ hooks })
  await session.append([user(FILLER), assistant(FILLER)])
  const summarize = async (): Promise<string> => SUMMARY
  await expect(session.compact({ summarize, keepRecentTokens: 0 })).rejects.toThrow("Not now.")
  expect(await storedEntries(location)).toHaveLength(2)
  refuse = false
  const { entryId } = await session.compact({ summarize, keepRecentTokens: 0 })
  await new Promise((resolve) => setImmediate(resolve))
  expect(calls).toEqual([
    ["before", "s", true],
    ["before", "s", true],
    ["after", "s", entryId],
  ])
  expect(told.map(([name]) => name)).toEqual(["compact_failed", "compact_start", "compact_complete", "hook_failed"])
})

test("a compaction tells when it starts and what it did, and which headings the summary lacks", async () => {
  const { session, told } = await start()
  await session.append([user(FILLER), assistant(FILLER), user("c"), assistant("d")])
  const done = await session.compact({ summarize: async () => "## Goal\nonly that", keepRecentTokens: 1 })
  expect(told).toEqual([
    ["compact_start", { reason: "manual" }],
    [
      "compact_complete",
      {
        entryId: done.entryId,
        tokensBefore: done.tokensBefore,
        tokensAfter: done.tokensAfter,
        tokensFreed: done.tokensBefore - done.tokensAfter,
        messagesSummarized: 3,
        messagesKept: 1,
        missingHeadings: SUMMARY_HEADINGS.slice(1),
      },
    ],
  ])
})

test("where a kept entry's id comes again later, the kept part begins at one that does not", async () => {
  const at = "2026-01-31T09:30:00.000Z"
  const entry = (id: string, parentId: string | null, seq: number, text: string) =>
    JSON.stringify({
      type: "message",
      id,
      parentId,
      seq,
      timestamp: at,
      message: { role: seq % 2 === 1 ? "user" : "assistant", content: [{ type: "text", text }] },
    })
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  const header = JSON.stringify({ type: "session", format: "@sessions", version: 4, id: "s", timestamp: at })
  const lines = [
    header,
    entry("a", null, 1, `1 ${FILLER}`),
    entry("b", "a", 2, `2 ${FILLER}`),
    entry("c", "b", 3, "3"),
    entry("d", "c", 4, "4"),
    entry("c", "d", 5, "5"),
    entry("e", "c", 6, "6"),
  ]
  await storage.append("s", lines, { expect: 0 })
  const session = await createSessions({ storage }).open("s")
  await session.compact({ summarize: async () => "short", keepRecentTokens: 4 })
  expect((await contextTexts(session)).slice(1)).toEqual(["4", "5", "6"])
})

// ---- helpers -------------------------------------------------------------------------------------------------------------------

type Told = readonly [keyof SessionEvents, unknown]

async function start(o: Omit<SessionsOptions, "storage"> = {}) {
  const location: MemoryLocation = createMemoryLocation()
  const session = await createSessions({ ...o, storage: createMemoryStorage({ location }) }).create({ id: "s" })
  const told: Told[] = []
  for (const name of ["compact_start", "compact_complete", "compact_failed", "hook_failed"] as const)
    session.on(name, (event) => told.push([name, event]))
  const reopen = (): Promise<Session> => createSessions({ storage: createMemoryStorage({ location }) }).open("s")
  return { session, location, told, reopen }
}

const KINDS = [
  "user",
  "assistant",
  "calls",
  "results",
  "custom",
  "bash",
  "model",
  "edit",
  "omit",
  "drop",
  "branch",
  "label",
] as const
const scripts = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.nat({ max: 99 })), { maxLength: 30, size: "max" })

let count = 0

/** Each message has a marker of its own, as long as is needed to find it. */
async function play(session: Session, script: readonly (readonly [(typeof KINDS)[number], number])[]): Promise<void> {
  const ids: string[] = []
  let open: string[] = []
  for (const [kind, n] of script) {
    const marker = `<<${count++}>>${"x".repeat(n)}`
    const near = ids.at(-1 - (n % Math.max(1, ids.length)))
    const message = (value: object): Promise<unknown> => add({ type: "message", message: value } as NewEntry)
    if (kind === "user" || kind === "assistant") await message({ role: kind, content: marker })
    else if (kind === "calls") {
      open = Array.from({ length: 1 + (n % 3) }, () => `call${count++}`)
      const content = open.map((id) => ({
        type: "toolCall",
        id,
        name: "bash",
        arguments: { marker: `<<${count++}>>` },
      }))
      await message({ role: "assistant", content })
    } else if (kind === "results") {
      const [id] = open.splice(n % Math.max(1, open.length), 1)
      if (id !== undefined) await message({ role: "toolResult", toolCallId: id, isError: false, content: marker })
    } else if (kind === "custom")
      await add({ type: "custom_message", customType: "note", content: marker, display: true })
    else if (kind === "bash") await message({ role: "bashExecution", command: "ls", output: marker })
    else if (kind === "model") await session.append({ type: "model_change", provider: "p", model: `m${n}` })
    else if (near === undefined) continue
    else if (kind === "edit") await session.edit(near, { content: marker })
    else if (kind === "omit") await session.edit(near, null)
    else if (kind === "drop") await session.tombstone(near)
    else if (kind === "label") await session.label(near, "here")
    else if (n % 5 === 0) await session.branch(near)
  }

  async function add(entry: NewEntry): Promise<void> {
    ids.push(...(await session.append(entry)).ids)
  }
}

/** All that shows on the path, also results whose calls do not. */
async function contextOf(session: Session): Promise<string> {
  return JSON.stringify((await session.context({ repair: "none" })).messages)
}

/** Entries of results that have no call. */
async function strays(session: Session): Promise<(string | undefined)[]> {
  const { diagnostics } = await session.context()
  return diagnostics.filter(({ message }) => message.includes("left out")).map(({ entryId }) => entryId)
}

function markersOf(text: string): string[] {
  return [...new Set(text.match(/<<\d+>>/g))]
}

function markers(text: string, names: readonly string[]): string[] {
  return names.filter((name) => text.includes(`${name} -`) || text.includes(`: ${name}\n`))
}
