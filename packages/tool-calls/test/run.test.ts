/** `run`: what starts, what does not, and what the log has of it. */
import { verifySession } from "@sessions/core/transfer"
import { createMemoryLocation } from "@sessions/memory"
import { createToolCalls } from "@sessions/tool-calls"
import { expect, test } from "vitest"
import {
  answer,
  call,
  callsOf,
  codeOf,
  inTurn,
  question,
  soonRejected,
  startProcess,
  stored,
  statesOf,
  toldOf,
} from "./world.ts"

test("a start is in the log before its call runs, and the result follows it", async () => {
  const { session, calls, location } = await inTurn([call("a", "charge", { amount: 5 })])
  const other = await startProcess(location)
  const seen: unknown[] = []
  const { message, outcome } = await calls.run(call("a"), async (execution) => {
    await other.session.refresh()
    seen.push(execution.arguments, execution.attempt, (await callsOf(other.session))[0])
    return { charged: execution.arguments["amount"] }
  })
  expect(seen).toMatchObject([{ amount: 5 }, 1, { state: "unknown", start: "answer.0.1", attempt: 1 }])
  expect(outcome).toEqual({ output: { charged: 5 } })
  expect(message).toMatchObject({ toolCallId: "a", toolName: "charge", isError: false })
  expect(await statesOf(session)).toEqual(["a done"])
  const [start] = await stored(session, "tool_start")
  expect(start).toMatchObject({ id: "answer.0.1", targetId: "answer", targetSeq: 3, callId: "a", call: 0, attempt: 1 })
  expect(await toldOf(session)).toEqual({ a: '{"charged":5}' })
})

test("a call that may be repeated has no start", async () => {
  const { session, calls } = await inTurn([call("a", "look"), call("b", "unnamed")])
  await calls.run(call("a"), () => "seen")
  await calls.run(call("b"), () => "done")
  expect(await stored(session, "tool_start")).toEqual([])
  expect(await toldOf(session)).toEqual({ a: "seen", b: "done" })
})

test("calls that run asks for in one tick start in one batch", async () => {
  const { session, calls, storage } = await inTurn([call("a"), call("b"), call("c")])
  const before = storage.calls.filter(({ operation }) => operation === "append").length
  let running = 0
  await Promise.all(
    ["a", "b", "c"].map((id) =>
      calls.run(call(id), async () => {
        running++
        if (running === 1)
          expect(storage.calls.filter(({ operation }) => operation === "append").length - before).toBe(1)
        return id
      }),
    ),
  )
  expect((await stored(session, "tool_start")).map(({ id }) => id)).toEqual(["answer.0.1", "answer.1.1", "answer.2.1"])
  expect(await statesOf(session)).toEqual(["a done", "b done", "c done"])
})

test("of several processes that run one call at once, one does", async () => {
  const location = createMemoryLocation()
  await inTurn([call("a"), call("b")], location)
  const processes = await Promise.all([1, 2, 3].map(() => startProcess(location)))
  const charged: string[] = []
  const codes = await Promise.all(
    processes.flatMap(({ calls }) =>
      ["a", "b"].map((id) => codeOf(calls.run(call(id), ({ key }) => void charged.push(key)))),
    ),
  )
  expect(charged.length).toBe(2)
  expect(new Set(charged).size).toBe(2)
  // A process that comes when the result is there gets that.
  expect(codes.every((code) => code === "resolved" || code === "conflict")).toBe(true)
})

test("the calls of a batch that nobody else has run although one of them is held", async () => {
  const { calls, location } = await inTurn([call("a"), call("b")])
  const other = await startProcess(location)
  const ran: string[] = []
  await other.calls.run(call("a"), async () => {
    const codes = await Promise.all(
      ["a", "b"].map((id) => codeOf(calls.run(call(id), () => void ran.push(`first process ${id}`)))),
    )
    expect(codes).toEqual(["conflict", "resolved"])
    ran.push("second process a")
  })
  expect(ran).toEqual(["first process b", "second process a"])
})

test("a message of another writer that forbids a call comes before its start, and the call does not run", async () => {
  const { session, calls, location } = await inTurn([call("a")])
  const other = await startProcess(location)
  await other.session.append(question("Stop, do not charge."))
  let ran = 0
  expect(await codeOf(calls.run(call("a"), () => void ran++))).toBe("conflict")
  expect(ran).toBe(0)
  expect(await stored(session, "tool_start")).toEqual([])
  expect(await toldOf(session)).toEqual({ a: "This tool call did not start. It may be called again." })
})

test("results of other calls of the message are no objection", async () => {
  const { calls, location } = await inTurn([call("a"), call("b")])
  const other = await startProcess(location)
  await other.calls.run(call("b"), () => "b")
  await calls.run(call("a"), () => "a")
  const third = await startProcess(location)
  expect(await statesOf(third.session)).toEqual(["a done", "b done"])
})

test("a call that is started is not run again, and neither is one that has a result", async () => {
  const { session, calls, location } = await inTurn([call("a")])
  const abort = new AbortController()
  const crash = calls.run(
    call("a"),
    () => {
      abort.abort(new Error("crash"))
      throw new Error("crash")
    },
    { signal: abort.signal },
  )
  await expect(crash).rejects.toThrow("crash")
  const next = await startProcess(location)
  let ran = 0
  expect(await codeOf(next.calls.run(call("a"), () => void ran++))).toBe("conflict")
  const { key } = (await callsOf(next.session))[0] ?? {}
  expect(await toldOf(next.session)).toEqual({
    a: `This tool call was started, and its outcome is unknown. Check whether it took effect before you call it again. Its key is ${key}.`,
  })
  await session.append({
    type: "message",
    message: { role: "toolResult", toolCallId: "a", toolName: "charge", content: "by hand" },
  })
  const done = await calls.run(call("a"), () => void ran++)
  expect(done.message.content).toEqual([{ type: "text", text: "by hand" }])
  expect(done.outcome).toBeUndefined()
  expect(ran).toBe(0)
})

test("an error of a tool is an error result", async () => {
  const { session, calls } = await inTurn([call("a"), call("b", "look")])
  const { message } = await calls.run(call("a"), () => {
    throw new Error("The card was refused.")
  })
  expect(message).toMatchObject({ isError: true, content: [{ type: "text", text: "The card was refused." }] })
  await calls.run(call("b"), () => 1n)
  expect(await toldOf(session)).toMatchObject({ a: "The card was refused.", b: expect.stringContaining("JSON") })
})

test("whatever a tool throws is an error result: it has run", async () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  for (const thrown of [
    undefined,
    Symbol("s"),
    Object.create(null),
    { toString: () => 1n },
    revoked.proxy,
  ] as unknown[]) {
    const { session, calls } = await inTurn([call("a")])
    const { message, outcome } = await calls.run(call("a"), () => {
      throw thrown
    })
    expect(message).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/./) }] })
    expect(outcome).toHaveProperty("error")
    expect(await statesOf(session)).toEqual(["a done"])
  }
})

test("a call whose signal fires while its start is on the way does not run, and `run` does not wait for the storage", async () => {
  const { session, calls, storage } = await inTurn([call("a"), call("b")])
  const before = storage.calls.filter(({ operation }) => operation === "append").length
  const release = storage.hold("append")
  const [stop, go] = [new AbortController(), new AbortController()]
  const ran: string[] = []
  const stopped = calls.run(call("a"), () => void ran.push("a"), { signal: stop.signal })
  const other = calls.run(call("b"), () => void ran.push("b"), { signal: go.signal })
  await expect.poll(() => storage.calls.filter(({ operation }) => operation === "append").length).toBe(before + 1)
  stop.abort(new Error("stop"))
  expect(await soonRejected(stopped)).toBe(stop.signal.reason)
  release()
  await other
  expect(ran).toEqual(["b"])
  await session.flush()
  expect((await toldOf(session))["a"]).toBe("This tool call was not run: it was stopped before it began.")
})

test("an id of a start that another entry has is named, and nothing runs", async () => {
  const { session, calls } = await startProcess()
  await session.append([{ ...question(), id: "answer.0.1" }, calls.record])
  await session.append(answer(call("a")))
  let ran = 0
  await expect(calls.run(call("a"), () => ran++)).rejects.toMatchObject({
    code: "exists",
    message: expect.stringContaining("answer.0.1"),
  })
  expect(ran).toBe(0)
})

test("a call that has run and whose result is refused rejects with its outcome, and is not told as one that did not run", async () => {
  for (const code of ["conflict", "quota", "closed"] as const) {
    const { session, calls, storage } = await inTurn([call("a")])
    const error: unknown = await calls
      .run(call("a"), () => {
        for (let n = 0; n < 100; n++) storage.fail("append", code)
        return "charged"
      })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code,
      message: expect.stringMatching(/^The call "a" of session s has run/),
      outcome: { output: "charged" },
      cause: { code },
    })
    expect(await statesOf(session)).toEqual(["a unknown"])
  }
})

test("two calls of a message with one id are two calls", async () => {
  const { session, calls } = await inTurn([call("a"), call("a")])
  const keys: string[] = []
  await Promise.all([1, 2].map(() => calls.run(call("a"), ({ key }) => void keys.push(key))))
  expect(new Set(keys).size).toBe(2)
  expect((await stored(session, "tool_start")).map(({ call: place }) => place)).toEqual([0, 1])
  expect(await statesOf(session)).toEqual(["a done", "a done"])
})

test("of two calls with one id each has its own result, whichever ends first", async () => {
  const { session, calls } = await inTurn([call("a", "charge", { card: 1 }), call("a", "charge", { card: 2 })])
  let end: ((output: string) => void) | undefined
  const first = calls.run(call("a"), () => new Promise<string>((resolve) => (end = resolve)))
  await calls.run(call("a"), () => "declined")
  expect(await callsOf(session)).toMatchObject([{ state: "unknown" }, { state: "done", result: "answer.1.result" }])
  const told = async (): Promise<unknown> =>
    (await session.context()).messages.flatMap(({ message }) =>
      message.role === "toolResult" ? [[message.toolCallId, message.content[0]]] : [],
    )
  expect(await told()).toMatchObject([
    ["a_2", { text: "declined" }],
    ["a", { text: expect.stringContaining("its outcome is unknown") }],
  ])
  end?.("charged")
  await first
  expect(await callsOf(session)).toMatchObject([{ result: "answer.0.result" }, { result: "answer.1.result" }])
  expect(await told()).toMatchObject([
    ["a_2", { text: "declined" }],
    ["a", { text: "charged" }],
  ])
})

test("one call that is asked for twice at once runs once", async () => {
  const { calls } = await inTurn([call("a")])
  let ran = 0
  const codes = await Promise.all([1, 2].map(() => codeOf(calls.run(call("a"), () => void ran++))))
  expect(codes).toEqual(["resolved", "conflict"])
  expect(ran).toBe(1)
})

test("a start whose acknowledgement was lost is recognized, and its call runs once", async () => {
  const { calls, storage, session } = await inTurn([call("a")])
  storage.fail("append", "response lost")
  let ran = 0
  await calls.run(call("a"), () => void ran++)
  expect(ran).toBe(1)
  expect((await stored(session, "tool_start")).length).toBe(1)
})

test("the call must be one of the last assistant message", async () => {
  const { session, calls } = await inTurn([call("a")])
  expect(await codeOf(calls.run(call("z"), () => 1))).toBe("invalid")
  await session.append([question(), { ...answer(), id: "next", message: { role: "assistant", content: "No." } }])
  expect(await codeOf(calls.run(call("a"), () => 1))).toBe("invalid")
})

test("a call that is given by its place must have that id, and be of that message", async () => {
  const { session, calls } = await inTurn([call("a"), call("b")])
  expect(await codeOf(calls.run({ callId: "a", call: 1 }, () => expect.unreachable()))).toBe("invalid")
  expect(await codeOf(calls.run({ callId: "a", call: 0, entryId: "other" }, () => expect.unreachable()))).toBe(
    "conflict",
  )
  await calls.run({ callId: "b", call: 1, entryId: "answer" }, () => "ran")
  expect(await statesOf(session)).toEqual(["a waiting", "b done"])
})

test("a result does not take the leaf from a newer turn", async () => {
  const { calls, location } = await inTurn([call("a")])
  const other = await startProcess(location)
  await calls.run(call("a"), async () => {
    await other.session.append(question("And now?"))
    return "charged"
  })
  const next = await startProcess(location)
  const { messages } = await next.session.context()
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "assistant", "toolResult", "user"])
  expect(await statesOf(next.session)).toEqual(["a done"])
})

test("a late result is that of its call, also behind a later message with a call of the same id", async () => {
  const { calls, location } = await inTurn([call("call_0", "charge", { card: 1 })])
  const other = await startProcess(location)
  await calls.run(call("call_0"), async () => {
    await other.session.append([question("And the other card?"), other.calls.record])
    await other.session.append({ ...answer(call("call_0", "charge", { card: 2 })), id: "next" })
    return "charged card 1"
  })
  const { session, sessions, calls: last } = await startProcess(location)
  expect(await callsOf(session)).toMatchObject([{ state: "waiting", arguments: { card: 2 } }])
  const told = async (): Promise<readonly unknown[]> =>
    (await session.context()).messages.flatMap(({ entryId, message }) =>
      message.role === "user" ? [] : [[entryId, message.role === "toolResult" && message.content[0]]],
    )
  expect(await told()).toMatchObject([
    ["answer", false],
    ["answer.0.result", { text: "charged card 1" }],
    ["next", false],
    ["next", { text: expect.stringContaining("did not start") }],
  ])
  await session.branch("next")
  expect(await statesOf(session)).toEqual(["call_0 waiting"])
  await last.run(call("call_0"), () => "charged card 2")
  expect((await told()).at(-1)).toMatchObject(["next.0.result", { text: "charged card 2" }])
  expect((await verifySession(sessions, "s")).diagnostics.filter(({ code }) => code === "foreign_result")).toEqual([])
})

test("a late result of a call that a compaction has left out is not that of a later call with its id", async () => {
  const { calls, session, location } = await inTurn([call("call_0", "charge", { card: 1 })])
  await calls.run(call("call_0"), async () => {
    const [kept = ""] = (await session.append([question("And the other card?"), calls.record])).ids
    await session.append({
      type: "compaction",
      summary: "A card.",
      firstKeptEntryId: kept,
      tokensBefore: 1,
      readFiles: [],
      modifiedFiles: [],
    })
    await session.append(calls.record)
    await session.append({ ...answer(call("call_0", "charge", { card: 2 })), id: "next" })
    return "charged card 1"
  })
  const next = await startProcess(location)
  expect(await toldOf(next.session)).toEqual({ call_0: "This tool call did not start. It may be called again." })
  await next.calls.resume({ charge: () => "charged card 2" })
  expect(await toldOf(next.session)).toEqual({ call_0: "charged card 2" })
})

test("a tool that the turn may repeat, and this program must not, is not run: it may have run without a start", async () => {
  const { session } = await inTurn([call("a", "look")])
  const calls = createToolCalls(session, { tools: { look: "never" } })
  expect(await codeOf(calls.run(call("a"), () => 1))).toBe("conflict")
})

test("a tool that the turn must not repeat has a start, whatever this program says of it", async () => {
  const { session } = await inTurn([call("a")])
  const calls = createToolCalls(session, { tools: { charge: "safe" } })
  await calls.run(call("a"), () => 1)
  expect((await stored(session, "tool_start")).length).toBe(1)
})
