import * as compaction from "../compaction/index.ts"
import * as transfer from "../transfer/index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { user } from "../../test/writers.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { createSessions } from "./repository.ts"
import type { Session } from "./types.ts"
import type { Sessions, SessionsOptions } from "./repository-types.ts"

const { automaticCompaction, branchWithSummary, compact, shorten } = compaction
const { collectBlobs, copySession, exportSession, forkSession, importSession } = transfer

type Call = (...args: never) => unknown

/** Values that are wrong for most arguments, and some that are right for a few. */
const JUNK: readonly unknown[] = [
  undefined,
  null,
  true,
  7,
  -1.5,
  Number.NaN,
  7n,
  Symbol("s"),
  "",
  "x",
  [],
  [null],
  {},
  { toString: 1 },
  Object.create(null),
  () => 7,
  { signal: {} },
  { signal: null },
]

/** The methods that take arguments, with right ones. */
const SESSION: { readonly [Name in keyof Session]?: readonly unknown[] } = {
  append: [user("hi"), {}],
  turn: [() => 1, {}],
  context: [{}],
  messages: [{}],
  path: [{}],
  entries: [{}, {}],
  entry: ["a", {}],
  branch: ["a", {}],
  settle: [["a"], {}],
  resetLeaf: [{}],
  label: ["a", "a label", {}],
  tombstone: ["a", {}],
  edit: ["a", null, {}],
  title: ["a title", {}],
  metadata: ["key", 1, {}],
  info: [{}],
  parts: [{}],
  on: ["appended", () => 1],
  refresh: [{}],
  flush: [{}],
}

const REPOSITORY: { readonly [Name in keyof Sessions]?: readonly unknown[] } = {
  create: [{}],
  open: ["s", {}],
  openOrCreate: ["s", {}],
  info: ["s", {}],
  list: [{}],
  rename: ["s", "a title", {}],
  move: ["s", { cwd: "/" }],
  delete: ["other", {}],
}

/** The calls of `@sessions/core/transfer` on sessions, with their other arguments. */
const TRANSFER: Readonly<Record<string, readonly unknown[]>> = {
  forkSession: ["s", {}],
  continueRecent: [{ cwd: "/" }],
  importSession: ["", {}],
  exportSession: ["s", {}],
  copySession: ["s", createMemoryStorage(), {}],
  mergeSession: ["s", createMemoryStorage(), {}],
  migrateSession: ["s", {}],
  verifySession: ["s", {}],
  deleteWithBlobs: ["other", {}],
  deleteOldSessions: [{ olderThan: 1 }],
  collect: [{}],
  setPointer: ["p", { session: "s" }, {}],
  getPointer: ["p", {}],
  deletePointer: ["p", {}],
}

/** Those on a session. */
const TREE: Readonly<Record<string, readonly unknown[]>> = { sessionTree: [{}], sessionBranches: [{}] }

/** The calls of `@sessions/core/compaction` on a session, with their other arguments. */
const COMPACTION: Readonly<Record<string, readonly unknown[]>> = {
  compact: [{}],
  autoCompact: [{}],
  makeRoom: [{}],
  branchWithSummary: ["a", "a text", {}],
}

/** The calls of an entry that are in the table, with their first argument. */
function callsOn(first: object, entry: object, table: object): Readonly<Record<string, Call>> {
  const calls = entry as Readonly<Record<string, Call>>
  return Object.fromEntries(
    Object.keys(table).map((name) => [name, (...args) => calls[name]?.(...([first, ...args] as never))]),
  )
}

test.each(Object.entries(COMPACTION))("wrong arguments of %s reject with a code", async (name, args) => {
  const { session } = await opened()
  expect(await problemsOf(callsOn(session, compaction, COMPACTION), name, args)).toEqual([])
})

test.each(Object.entries(TRANSFER))("wrong arguments of %s reject with a code", async (name, args) => {
  const { sessions } = await opened()
  expect(await problemsOf(callsOn(sessions, transfer, TRANSFER), name, args)).toEqual([])
})

test.each(Object.entries(TREE))("wrong arguments of %s reject with a code", async (name, args) => {
  const { session } = await opened()
  expect(await problemsOf(callsOn(session, transfer, TREE), name, args)).toEqual([])
})

test.each(Object.keys({ ...TRANSFER, ...TREE }))("%s takes what it is of first", async (name) => {
  const { sessions, session, storage } = await opened()
  const call = (transfer as unknown as Readonly<Record<string, Call>>)[name] as Call
  const others = [storage, {}, undefined, name in TREE ? sessions : session]
  for (const other of others) {
    const error = await errorOf(() => call(...([other, ...(TRANSFER[name] ?? [{}])] as never)))
    expect(error).toMatchObject({ code: "invalid", message: expect.stringContaining(`${name}() takes `) })
  }
})

test.each(Object.entries(SESSION))("wrong arguments of session.%s reject with a code", async (name, args) => {
  const { session } = await opened()
  expect(await problemsOf(session as never, name, args)).toEqual([])
})

test.each(Object.entries(REPOSITORY))("wrong arguments of sessions.%s reject with a code", async (name, args) => {
  const { sessions } = await opened()
  expect(await problemsOf(sessions as never, name, args)).toEqual([])
})

test("wrong arguments of collectBlobs reject with a code", async () => {
  expect(await problemsOf({ collectBlobs }, "collectBlobs", [createMemoryStorage(), {}])).toEqual([])
})

test("every method with options refuses an unknown one, with the nearest name", async () => {
  const { session, sessions } = await opened()
  const targets = [
    [session, SESSION],
    [callsOn(session, compaction, COMPACTION), COMPACTION],
    [sessions, REPOSITORY],
    [callsOn(sessions, transfer, TRANSFER), TRANSFER],
    [callsOn(session, transfer, TREE), TREE],
  ] as const
  for (const [target, calls] of targets) {
    for (const [name, args] of Object.entries(calls)) {
      if (name === "on") continue
      const wrong = [...args.slice(0, -1), { ...(args.at(-1) as object), signl: 1 }]
      const error = await errorOf(() => (target as unknown as Record<string, Call>)[name]?.(...(wrong as never)))
      expect([name, error]).toMatchObject([
        name,
        { code: "invalid", message: `${name} has no option "signl". Did you mean "signal"?` },
      ])
    }
  }
})

test.each<[unknown, string]>([
  [undefined, "createSessions takes an object with the options storage, hooks,"],
  ["./x", "createSessions takes an object with the options storage, hooks,"],
  [{}, 'createSessions needs a storage, such as createFileStorage({ root: "./sessions" }), not undefined.'],
  [{ storage: "./x" }, 'createSessions needs a storage, such as createFileStorage({ root: "./sessions" }), not "./x".'],
  [{ onConflict: "brnach" }, '`onConflict` must be "branch" or "retry-turn" or "fail", not "brnach".'],
  [{ oversize: "cut" }, '`oversize` must be "blobs" or "truncate", not "cut".'],
  [{ migrateOnWrite: "no" }, '`migrateOnWrite` must be true or false, not "no".'],
  [{ maxSessionBytes: "1" }, '`maxSessionBytes` must be a number from 1, not "1".'],
  [{ blobs: { textUnit: 1 } }, 'createSessions has no option "blobs.textUnit". Did you mean "blobs.textUnits"?'],
  [{ blobs: { textUnits: -1 } }, "`blobs.textUnits` must be a number from 0, not -1."],
  [{ readWindow: { first: 1, most: 2 } }, 'createSessions has no option "readWindow.most".'],
  [{ extensions: { roles: "critic" } }, '`extensions.roles` must be an array of names, not "critic".'],
  [{ extensions: { role: [] } }, 'createSessions has no option "extensions.role". Did you mean "extensions.roles"?'],
  [{ hooks: { apend: () => 1 } }, 'createSessions has no option "hooks.apend". Did you mean "hooks.append"?'],
  [
    { hooks: [{ compact: { befor: () => 1 } }] },
    'no option "hooks.compact.befor". Did you mean "hooks.compact.before"?',
  ],
  [{ hooks: { save: 1 } }, "`hooks.save` must be a function, not 1."],
  [
    { compaction: { summarize: () => "" } },
    "`compaction` must be made by automaticCompaction() of @sessions/core/compaction, not a value of type object.",
  ],
  [{ readers: {} }, "`readers` must be an array of readers, such as [piLogs] of @sessions/core/migrations, not"],
  [{ readers: ["pi"] }, "`readers[0]` must be a reader, such as piLogs of @sessions/core/migrations."],
  [{ now: 5 }, "`now` must be a function, not 5."],
])("wrong options of createSessions are `invalid`, with a sentence that says what to do: %j", (options, message) => {
  const complete =
    typeof options === "object" && Object.keys(options as object).some((key) => key !== "storage")
      ? { storage: createMemoryStorage(), ...options }
      : options
  expect(() => createSessions(complete as SessionsOptions)).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) }),
  )
})

test("near misses of values and of names within options are `invalid`", async () => {
  const { session, sessions } = await opened()
  const calls: readonly [() => unknown, string][] = [
    [() => session.append(user("x"), { onConflict: "fial" as never }), '`onConflict` must be "branch"'],
    [() => session.append(user("x"), { repeats: "lgo" as never }), '`repeats` must be "end" or "log", not "lgo".'],
    [() => session.context({ repair: "snythesize" as never }), '`repair` must be "synthesize"'],
    [
      () => session.context({ shorten: shorten({ aggresive: true } as never) }),
      'no option "aggresive". Did you mean "aggressive"?',
    ],
    [() => sessions.create({ id: null as never }), "`id` must be a string"],
    [() => session.title("t", { source: "atuo" as never }), '`source` must be "user" or "auto"'],
    [() => branchWithSummary(session, "a", { instruction: "x" } as never), 'Did you mean "instructions"?'],
    [() => session.follow({ signl: 1 } as never), 'follow has no option "signl". Did you mean "signal"?'],
    [() => session.follow({ signal: 1 } as never), "`signal` must be an AbortSignal, not 1."],
    [() => session.messages({ before: null as never }), "`before` must be the id of an entry"],
    [() => session.path({ before: 5 as never }), "`before` must be the id of an entry"],
    [() => session.label("a", "l", { at: "a" } as never), 'label has no option "at".'],
    [() => session.entries({ form: 1 } as never), 'entries has no option "form". Did you mean "from"?'],
    [() => session.on("apended" as never, () => 1), 'A session has no event "apended". Did you mean "appended"?'],
    [() => sessions.list({ source: "corn" as never }), '`source` must be "interactive" or "cron"'],
    [() => automaticCompaction({ keepTurn: 1 } as never), 'no option "keepTurn". Did you mean "keepTurns"?'],
    [
      () => sessions.open("s", { compaction: { keepTurns: 1 } as never }),
      "`compaction` must be made by automaticCompaction()",
    ],
    [
      () => session.context({ shorten: true as never }),
      "`shorten` must be made by shorten() of @sessions/core/compaction",
    ],
    [() => compact({} as never), "compact() takes an open session of this package first, not a value of type object."],
    [() => exportSession(sessions, "s", { format: "json" as never }), '`format` must be "jsonl" or "markdown"'],
    [() => forkSession(sessions, "s", { at: 5n as never }), "`at` must be a string, not 5."],
    [() => importSession(sessions, "", { from: null as never }), '`from` must be "auto" or "sessions"'],
    ...[5, "a".repeat(64), { a: 1 }, [5], new Set([5])].map((blobs): [() => unknown, string] => [
      () => importSession(sessions, "", { blobs: blobs as never }),
      '`blobs` must be "any", or an array or a Set of hashes',
    ]),
    [
      () => copySession(sessions, "s", "./x" as never),
      'copySession needs a storage, such as createFileStorage({ root: "./sessions" })',
    ],
  ]
  for (const [call, message] of calls) {
    expect(await errorOf(call)).toMatchObject({ code: "invalid", message: expect.stringContaining(message) })
  }
})

async function opened(): Promise<{
  readonly session: Session
  readonly sessions: Sessions
  readonly storage: SessionStorage
}> {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  const session = await sessions.create({ id: "s" })
  await session.append(user("hi", "a"))
  return { session, sessions, storage }
}

/** The calls with one wrong argument, or with too few, that fail without a code: a TypeError and the like. */
async function problemsOf(target: Record<string, Call>, name: string, args: readonly unknown[]): Promise<string[]> {
  const problems: string[] = []
  const attempts = args.flatMap((_, at) => [args.slice(0, at), ...JUNK.map((junk) => args.with(at, junk))])
  for (const attempt of attempts) {
    const error = await errorOf(() => target[name]?.(...(attempt as never)))
    if (error === undefined || typeof (error as { code?: unknown }).code === "string") continue
    problems.push(
      `${name}(${attempt.map((one) => (typeof one === "object" ? JSON.stringify(one) : String(one))).join(", ")}): ${String(error)}`,
    )
  }
  return problems
}

/** What a call throws or rejects with; undefined if it succeeds. A result is read to its end. */
async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    const result = await call()
    if (typeof result === "object" && result !== null && Symbol.asyncIterator in result) {
      for await (const _ of result as AsyncIterable<unknown>) void _
    }
    return undefined
  } catch (error) {
    return error
  }
}
