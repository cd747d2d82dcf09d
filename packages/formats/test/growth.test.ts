import { createSessions, type Session } from "@sessions/core"
import { sessionBranches, verifySession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { formats } from "../src/formats.ts"
import { fixturesOf } from "./fixtures.ts"
import { importText, recordsOf, seed, written } from "./laws.ts"

const line = (record: object): string => `${JSON.stringify(record)}\n`
const place = { sessionId: "s1", cwd: "/work", isSidechain: false }
const said = (uuid: string, parentUuid: string | null, content: unknown): string =>
  line({ ...place, type: "user", uuid, parentUuid, timestamp: TIME, message: { role: "user", content } })
const answered = (uuid: string, parentUuid: string, id: string, block: object): string =>
  line({
    ...place,
    type: "assistant",
    uuid,
    parentUuid,
    timestamp: TIME,
    message: { id, role: "assistant", content: [block] },
  })
const TIME = "2026-09-01T10:00:00.000Z"
const text = (value: string) => ({ type: "text", text: value }) as const
const call = { type: "tool_use", id: "t1", name: "Bash", input: {} }
const result = [{ type: "tool_result", tool_use_id: "t1", content: "done" }]

const LINES = formats.filter(({ format }) =>
  ["claude-code", "codex", "copilot", "gemini", "noumen", "cersei", "qwen-code"].includes(format),
)
const files = LINES.flatMap((format) =>
  fixturesOf([format.format])
    .filter(({ expected }) => expected.messages !== undefined)
    .map((fixture) => [fixture.name, format, fixture.golden] as const),
)

/** The session of a file that was imported at each of these lengths, and as a whole. */
async function grown(format: (typeof formats)[number], golden: { readonly text: string }, ends: readonly number[]) {
  const sessions = createSessions({ storage: createMemoryStorage() })
  for (const end of ends) {
    const found = await importText(format, { text: golden.text.slice(0, end) }, sessions).catch(() => undefined)
    await found?.session.close()
  }
  return await importText(format, golden, sessions)
}

/** Lengths that were found by a seed: the boundary of a compaction and its summary came in two imports, and a torn line behind them. */
const FOUND: Readonly<Record<string, readonly (readonly number[])[]>> = {
  "claude-code/compacted.jsonl": [[1_706, 3_365, 3_523]],
}

test.each(files)(
  "%s imported while it grows has the context and the file of the whole one",
  async (name, format, golden) => {
    const whole = await importText(format, golden)
    const { messages } = await whole.session.context()
    const cuts = fc.sample(fc.array(fc.nat(golden.text.length), { minLength: 1, maxLength: 3 }), { numRuns: 4, seed })
    for (const cut of [...cuts, ...(FOUND[name] ?? [])]) {
      const ends = cut.toSorted((a, b) => a - b)
      const { session, sessions, diagnostics } = await grown(format, golden, ends)
      const found = await session.context()
      // An edit has the content alone: usage and the reason of the stop are those of the first import.
      const contentsOf = (all: typeof messages) => all.map(({ message: { role, content } }) => ({ role, content }))
      expect(contentsOf(found.messages), `cut at ${ends.join()}`).toEqual(contentsOf(messages))
      expect(diagnostics.map(({ code }) => code)).not.toContain("exists")
      if (format.write !== undefined)
        expect(recordsOf(await written(format, session)), `cut at ${ends.join()}`).toEqual(recordsOf(golden.text))
      expect(
        (await verifySession(sessions, session.id)).diagnostics.filter(({ code }) => code !== "missing_parent"),
      ).toEqual([])
      await session.close()
      expect((await importText(format, golden, sessions)).added, `cut at ${ends.join()}`).toBe(false)
    }
  },
)

test.each([
  ["claude-code/fork.jsonl", 2],
  ["qwen-code/compacted-and-rewound.jsonl", 7],
])(
  "%s has no open branch if the lines from the one that leaves a branch come with a later import",
  async (name, count) => {
    const [, format, golden] = files.find(([file]) => file === name) as (typeof files)[number]
    const before = golden.text.split("\n").slice(0, count).join("\n")
    const { session, sessions } = await grown(format, golden, [before.length + 1])
    expect((await verifySession(sessions, session.id)).diagnostics).toEqual([])
    const [left] = (await sessionBranches(session)).filter(({ current }) => !current)
    expect(left?.settled).toBe(true)
  },
)

const claude = formats.find(({ format }) => format === "claude-code") as (typeof formats)[number]

test("a message of which more lines come is completed by an edit, and its results follow", async () => {
  const first = said("u1", null, "go") + answered("a1", "u1", "m1", text("let me"))
  const whole = `${first}${answered("a2", "a1", "m1", call)}${said("r1", "a2", result)}${answered("a3", "r1", "m2", text("ok"))}`
  const { session, sessions } = await grown(claude, { text: whole }, [first.length])
  const { messages } = await session.context()
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "assistant", "toolResult", "assistant"])
  expect(messages[1]?.message.content).toEqual([
    text("let me"),
    { type: "toolCall", id: "t1", name: "Bash", arguments: {} },
  ])
  expect(await written(claude, session)).toBe(
    await written(claude, (await importText(claude, { text: whole })).session),
  )
  expect((await importText(claude, { text: whole }, sessions)).added).toBe(false)
})

test("the text of a skill is behind the results of all calls at once, and loses none that comes with a later import", async () => {
  const callOf = (id: string) => ({ type: "tool_use", id, name: "Skill", input: {} })
  const resultOf = (id: string) => [{ type: "tool_result", tool_use_id: id, content: id }]
  const lines = [
    said("u1", null, "go"),
    answered("a1", "u1", "m1", callOf("t1")),
    answered("a2", "a1", "m1", callOf("t2")),
    answered("a3", "a2", "m1", callOf("t3")),
    said("r1", "a1", resultOf("t1")),
    line({ ...(JSON.parse(said("s1", "r1", "skill one")) as object), isMeta: true, sourceToolUseID: "t1" }),
    said("r2", "a2", resultOf("t2")),
    line({ ...(JSON.parse(said("s2", "r2", "skill two")) as object), isMeta: true, sourceToolUseID: "t2" }),
    line({
      ...place,
      type: "attachment",
      uuid: "x1",
      parentUuid: "s2",
      timestamp: TIME,
      attachment: { type: "command_permissions" },
    }),
    said("r3", "a3", resultOf("t3")),
    answered("a4", "r3", "m2", text("ok")),
  ]
  const whole = lines.join("")
  const rowsOf = async (session: Session) =>
    (await session.context()).messages.map(({ message: { role, content } }) =>
      [role, ...content.map((block) => block["text"] ?? block["id"])].join(" "),
    )
  const expected = ["user go", "assistant t1 t2 t3", "toolResult t1", "toolResult t2", "toolResult t3"]
  const { session } = await importText(claude, { text: whole })
  expect(await rowsOf(session)).toEqual([...expected, "user skill one", "user skill two", "assistant ok"])
  expect(recordsOf(await written(claude, session))).toEqual(recordsOf(whole))
  for (const count of lines.keys()) {
    const before = lines.slice(0, count).join("")
    const { session: later, sessions } = await grown(claude, { text: whole }, [before.length])
    const rows = await rowsOf(later)
    expect(rows.slice(0, 5), `cut behind line ${count}`).toEqual(expected)
    expect(recordsOf(await written(claude, later)), `cut behind line ${count}`).toEqual(recordsOf(whole))
    expect(rows.toSorted(), `cut behind line ${count}`).toEqual([...(await rowsOf(session))].toSorted())
    expect((await importText(claude, { text: whole }, sessions)).added, `cut behind line ${count}`).toBe(false)
  }
})

test("titles and labels of the session do not keep a file from going on, but messages do", async () => {
  const first = said("u1", null, "go") + answered("a1", "u1", "m1", text("one"))
  const more = said("u2", "a1", "next")
  const { session, sessions } = await importText(claude, { text: first })
  await session.append({ type: "title_change", title: "Mine", source: "user" })
  await session.close()
  const { session: again } = await importText(claude, { text: first + more }, sessions)
  expect((await again.context()).messages).toHaveLength(3)
  expect((await again.info()).title).toBe("Mine")
  await again.append({ type: "message", message: { role: "user", content: "ours" } })
  await again.close()
  const third = importText(claude, { text: `${first}${more}${answered("a2", "u2", "m2", text("two"))}` }, sessions)
  await expect(third).rejects.toMatchObject({ code: "exists" })
})

test("two files of one session are one session, in whatever order they come", async () => {
  const shared = said("u1", null, "one") + answered("a1", "u1", "m1", text("first"))
  const long = `${shared}${said("u2", "a1", "two")}${answered("a2", "u2", "m2", text("second"))}`
  const stub = line({
    ...place,
    type: "user",
    uuid: "x1",
    parentUuid: null,
    isMeta: true,
    timestamp: "2026-09-02T10:00:00.000Z",
    message: { role: "user", content: "context" },
  })
  for (const order of [
    [shared, long, stub],
    [stub, long, shared],
    [long, stub, shared],
  ]) {
    const sessions = createSessions({ storage: createMemoryStorage() })
    let last = await importText(claude, { text: order[0] as string }, sessions)
    for (const one of [...order, ...order]) {
      await last.session.close()
      last = await importText(claude, { text: one }, sessions)
    }
    expect(last.added).toBe(false)
    const { messages } = await last.session.context()
    expect(messages.map(({ message }) => message.content)).toEqual([
      [text("one")],
      [text("first")],
      [text("two")],
      [text("second")],
    ])
  }
})

test("a message is completed unless an edit of the user is in force: not if it was deleted, or is on another branch", async () => {
  const begin = said("u1", null, "go") + answered("a1", "u1", "m1", text("first"))
  const whole = begin + answered("a2", "a1", "m1", text("second"))
  const edit = { content: [text("mine")] } as const
  const contentOf = async (change: (session: Session) => Promise<unknown>) => {
    const first = await importText(claude, { text: begin })
    await change(first.session)
    await first.session.close()
    const { session } = await importText(claude, { text: whole }, first.sessions)
    return (await session.context()).messages.at(-1)?.message.content
  }
  expect(await contentOf((session) => session.edit("a1", edit))).toEqual([text("mine")])
  const undone = await contentOf(async (session) => {
    const { ids } = await session.edit("a1", edit)
    await session.tombstone(ids[0] as string)
  })
  expect(undone).toEqual([text("first"), text("second")])
  const elsewhere = await contentOf(async (session) => {
    await session.edit("a1", edit)
    await session.branch("a1")
  })
  expect(elsewhere).toEqual([text("first"), text("second")])
})

test("a file goes on behind an edit of the user, which stays in force", async () => {
  const begin = said("u1", null, "go") + answered("a1", "u1", "m1", text("first"))
  const first = await importText(claude, { text: begin })
  await first.session.edit("a1", { content: [text("mine")] })
  await first.session.append({ type: "model_change", provider: "anthropic", model: "m2" })
  await first.session.close()
  const more = begin + said("u2", "a1", "next") + answered("a2", "u2", "m2", text("second"))
  const { session, sessions } = await importText(claude, { text: more }, first.sessions)
  const contents = (await session.context()).messages.map(({ message }) => message.content)
  expect(contents).toEqual([[text("go")], [text("mine")], [text("next")], [text("second")]])
  expect((await verifySession(sessions, session.id)).diagnostics).toEqual([])
  const again = await importText(claude, { text: await written(claude, session) })
  expect((await again.session.context()).messages.map(({ message }) => message.content)).toEqual(contents)
})

test.each(files)("an older copy of %s, after the whole one, changes no message", async (_name, format, golden) => {
  const { session, sessions } = await importText(format, golden)
  const { messages } = await session.context()
  await session.close()
  const lines = golden.text.split(/(?<=\n)/)
  for (let count = 1; count < lines.length; count++) {
    const text = lines.slice(0, count).join("")
    const older = await importText(format, { text }, sessions).catch(() => undefined)
    if (older?.session.id !== session.id) continue
    expect((await older.session.context()).messages, `${count} lines`).toEqual(messages)
    await older.session.close()
  }
})

test("files whose last message has another content each are one session, however often they come", async () => {
  const contents = ["one", "two", "six", "on"]
  const sessions = createSessions({ storage: createMemoryStorage() })
  for (const [n, content] of [...contents, ...contents, ...contents].entries()) {
    const text = said("u1", null, "go") + answered("a1", "u1", "m1", { type: "text", text: content })
    const { session, added } = await importText(claude, { text }, sessions)
    // The beginning of what it was is an older copy.
    expect(added).toBe(n < 3)
    const { messages } = await session.context()
    expect(messages[1]?.message.content).toEqual([{ type: "text", text: contents[Math.min(n, 2)] }])
    expect((await verifySession(sessions, session.id)).diagnostics).toEqual([])
    await session.close()
  }
})

const GROWN: Readonly<Record<string, readonly [object, object, object]>> = {
  "the arguments of a call": [
    { ...call, input: {} },
    { ...call, input: { command: "ls" } },
    { ...call, input: { command: "pwd" } },
  ],
  thinking: [
    { type: "thinking", thinking: "Perhaps", signature: "a" },
    { type: "thinking", thinking: "Perhaps so", signature: "ab" },
    { type: "thinking", thinking: "No", signature: "c" },
  ],
}

test.each(Object.entries(GROWN))(
  "%s of the last message that have grown or changed since are taken over, and no beginning of them",
  async (_, blocks) => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    const textOf = (block: object): string => said("u1", null, "go") + answered("a1", "u1", "m1", block)
    const added: boolean[] = []
    for (const block of [...blocks, ...blocks]) {
      const file = await importText(claude, { text: textOf(block) }, sessions)
      added.push(file.added)
      await file.session.close()
    }
    expect(added).toEqual([true, true, true, false, false, false])
    const { session } = await importText(claude, { text: textOf(blocks[0]) }, sessions)
    const { session: last } = await importText(claude, { text: textOf(blocks[2]) })
    const contentIn = async (one: Session) => (await one.context()).messages[1]?.message.content
    expect(await contentIn(session)).toEqual(await contentIn(last))
  },
)
