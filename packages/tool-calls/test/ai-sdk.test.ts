/** Loops with the AI SDK whose tools are recorded, with the SDK itself and a scripted model. */
import { createSessions, type Message, type Session } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { aiSdkResult, appendAiSdkStream, fromAiSdk, toAiSdk } from "@sessions/providers/ai-sdk"
import { createToolCalls, executionOf } from "@sessions/tool-calls"
import { recordAiSdk } from "@sessions/tool-calls/ai-sdk"
import { generateText, isStepCount, streamText, tool } from "ai"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { scriptedModel, type Step, type ToolUse } from "./scripted-model.ts"
import { callsOf, codeOf, question, startProcess, statesOf, stored } from "./world.ts"

const TOOLS = { charge: "never", look: "safe" } as const

interface Setting {
  readonly steps: readonly Step[]
  /** Called while a charge runs. */
  readonly during?: (location: MemoryLocation) => unknown
  /** Called when an answer is in the log. */
  readonly answered?: (location: MemoryLocation) => unknown
  readonly abortSignal?: AbortSignal
  readonly leavesOut?: "onStepEnd" | "onLanguageModelCallEnd"
}

/** A turn in which the SDK runs the steps; what was charged, and what the model was asked. */
async function runTurn(way: "streamText" | "generateText", { steps, during, answered, ...o }: Setting) {
  const location = createMemoryLocation()
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s" })
  const calls = createToolCalls(session, { tools: TOOLS, toResult: aiSdkResult })
  const charged: string[] = []
  const tools = {
    charge: tool({
      inputSchema: z.object({ amount: z.number() }),
      execute: async ({ amount }, options) => {
        await during?.(location)
        charged.push(executionOf(options).key)
        if (amount > 100) throw new Error("The card was refused.")
        return { charged: amount }
      },
    }),
    look: tool({ inputSchema: z.object({}), execute: async () => "seen" }),
    book: tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => "booked" }),
  }
  const { model, prompts } = scriptedModel(steps)
  const run = session.turn(async (turn) => {
    await turn.append([question(), calls.record])
    const { request } = toAiSdk(await turn.context(), { model })
    const appending = async (entries: Parameters<typeof turn.append>[0]) => {
      await turn.append(entries)
      await answered?.(location)
    }
    const { append, ...options } = recordAiSdk({ session: { append: appending }, calls, tools })
    if (o.leavesOut !== undefined) Reflect.deleteProperty(options, o.leavesOut)
    const common = { model, stopWhen: isStepCount(5), ...request, ...options, maxRetries: 0 }
    const signal = o.abortSignal === undefined ? {} : { abortSignal: o.abortSignal }
    if (way === "generateText") await append(fromAiSdk(await generateText({ ...common, ...signal })))
    else
      await appendAiSdkStream({ append }, streamText({ ...common, ...signal, onError: () => undefined }).stream, {
        model,
      })
  })
  return { run, session, charged, prompts, location }
}

const pay = (id: string, amount = 5): ToolUse => ({ id, name: "charge", input: { amount } })
const look = (id: string): ToolUse => ({ id, name: "look", input: {} })

/** Its input is not what the tool takes: the SDK gives an error result, and nothing runs. */
const wrong = (id: string): ToolUse => ({ id, name: "charge", input: { amount: "five" } })
const REFUSED: unknown = expect.stringMatching(/^AI_InvalidToolInputError/)

const textOf = (content: unknown): string =>
  (content as readonly { readonly text?: string }[] | undefined)?.[0]?.text ?? ""

/** The results that the model gets. */
async function toldIn(session: Session): Promise<readonly string[]> {
  return (await session.context()).messages.flatMap(({ message }) =>
    message.role === "toolResult" ? [textOf(message.content)] : [],
  )
}

async function rolesOf(session: Session): Promise<readonly string[]> {
  return (await session.messages()).messages.map(({ message }) => message.role)
}

test("a turn whose stream is aborted lasts as long as the tool that it runs", async () => {
  const stop = new AbortController()
  let end = (): void => undefined
  const { run, session, charged } = await runTurn("streamText", {
    steps: [{ calls: [pay("a")] }],
    abortSignal: stop.signal,
    during: () => {
      stop.abort(new Error("stop"))
      return new Promise<void>((resolve) => (end = resolve))
    },
  })
  let isOver = false
  const over = run.then(() => (isOver = true))
  await expect.poll(() => stop.signal.aborted).toBe(true)
  for (let n = 0; n < 50; n++) await new Promise((resolve) => void setTimeout(resolve, 0))
  expect(isOver).toBe(false)
  end()
  await over
  expect(charged).toHaveLength(1)
  expect(await statesOf(session)).toEqual(["a done"])
})

describe.each(["streamText", "generateText"] as const)("with %s", (way) => {
  test("the answer and the start are in the log before a tool runs, and nothing is stored twice", async () => {
    const seen: unknown[] = []
    const { run, session, charged } = await runTurn(way, {
      steps: [{ text: "I charge.", calls: [pay("a")] }, { text: "Done." }],
      during: async (location) => {
        const other = await startProcess(location)
        seen.push(await callsOf(other.session), await rolesOf(other.session))
      },
    })
    await run
    expect(seen).toMatchObject([[{ callId: "a", state: "unknown", attempt: 1 }], ["user", "assistant"]])
    expect(await rolesOf(session)).toEqual(["user", "assistant", "toolResult", "assistant"])
    const [start] = await stored(session, "tool_start")
    expect(start?.["key"]).toBe(charged[0])
    const { messages } = await session.context()
    expect(messages[1]?.message).toMatchObject({ provider: "scripted", model: "scripted-1", stopReason: "tool-calls" })
  })

  test("the next request begins with what the SDK has sent itself", async () => {
    const { run, session, prompts } = await runTurn(way, {
      steps: [
        { text: "First.", calls: [pay("a")] },
        { calls: [look("b")] },
        { calls: [pay("c", 500)] },
        { text: "Done." },
      ],
    })
    await run
    const roles = ["user", "assistant", "toolResult", "assistant", "toolResult", "assistant", "toolResult", "assistant"]
    expect(await rolesOf(session)).toEqual(roles)
    const again = scriptedModel([{ text: "x" }])
    await generateText({ model: again.model, ...toAiSdk(await session.context()).request })
    const [before, after] = [prompts.at(-1), again.prompts[0]].map((prompt) => JSON.parse(JSON.stringify(prompt)))
    expect(after.slice(0, before.length)).toEqual(before)
  })

  test("calls of one answer start in one batch, and errors of tools are error results", async () => {
    const { run, session, charged } = await runTurn(way, {
      steps: [{ calls: [pay("a"), pay("b", 500)] }, { text: "One was refused." }],
    })
    await run
    expect(new Set(charged).size).toBe(2)
    const [first, second] = await stored(session, "tool_start")
    expect(second?.["seq"]).toBe(Number(first?.["seq"]) + 1)
    const { messages } = await session.context()
    const results = messages.flatMap(({ message }) =>
      message.role === "toolResult" ? [[message.toolCallId, message]] : [],
    )
    expect(Object.fromEntries(results)).toMatchObject({
      a: { isError: false, content: [{ text: '{"charged":5}' }] },
      b: { isError: true, content: [{ text: "Error: The card was refused." }] },
    })
  })

  test("a message that forbids the call comes first: the call is not run, and nothing is appended behind it", async () => {
    const { run, session, charged } = await runTurn(way, {
      steps: [{ calls: [pay("a")] }, { text: "It was not run." }],
      answered: async (location) => {
        const other = await startProcess(location)
        await other.session.append(question("Stop, charge nothing."))
      },
    })
    expect(await codeOf(run)).toBe("conflict")
    expect(charged).toEqual([])
    expect(await rolesOf(session)).toEqual(["user", "assistant", "user"])
    expect(await stored(session, "tool_start")).toEqual([])
  })

  test("without one of the callbacks no tool runs", async () => {
    // Whoever reads a stream appends the steps, too.
    const needed = ["onLanguageModelCallEnd", ...(way === "generateText" ? (["onStepEnd"] as const) : [])] as const
    for (const leavesOut of needed) {
      const { run, charged } = await runTurn(way, {
        steps: [{ calls: [look("x")] }, { calls: [pay("a")] }, { text: "Done." }],
        leavesOut,
      })
      expect(await codeOf(run)).toBe("invalid")
      expect(charged).toEqual([])
    }
  })

  test("a request for approval beside a call that runs is in the answer", async () => {
    const { run, session } = await runTurn(way, {
      steps: [{ calls: [pay("a"), { id: "h", name: "book", input: {} }] }, { text: "Done." }],
    })
    await run
    const { request } = toAiSdk(await session.context({ repair: "none" }))
    expect(JSON.stringify(request)).toContain('"tool-approval-request"')
    expect((await session.callStates())?.calls.map(({ callId, state }) => `${callId} ${state}`)).toEqual([
      "a done",
      "h unrecorded",
    ])
  })

  test("a result that the SDK gives itself is in the log, also if an earlier step had a call with its id", async () => {
    const { run, session, charged } = await runTurn(way, {
      steps: [{ calls: [pay("call_0")] }, { calls: [wrong("call_0")] }, { text: "Done." }],
    })
    await run
    expect(charged).toHaveLength(1)
    expect(await toldIn(session)).toEqual(['{"charged":5}', expect.stringMatching(/^AI_InvalidToolInputError/)])
  })

  test.each<readonly [string, readonly ToolUse[], readonly unknown[]]>([
    ["the first", [wrong("call_0"), pay("call_0", 6)], [REFUSED, '{"charged":6}']],
    ["the second", [pay("call_0", 6), wrong("call_0")], ['{"charged":6}', REFUSED]],
    ["the third", [pay("call_0", 5), pay("call_0", 6), wrong("call_0")], ['{"charged":5}', '{"charged":6}', REFUSED]],
  ])(
    "of several calls of an answer with one id each has its own result, if %s is not valid",
    async (_, calls, told) => {
      const { run, session, charged } = await runTurn(way, { steps: [{ calls }, { text: "Done." }] })
      await run
      expect(charged).toHaveLength(calls.length - 1)
      await session.branch((await stored(session, "message"))[calls.length + 1]?.["id"] as string)
      const results = (await callsOf(session)).map(({ result }) => result ?? "")
      const entries = await Promise.all(results.map(async (id) => session.entry(id)))
      expect(entries.map((entry) => textOf((entry?.["message"] as Message | undefined)?.content))).toEqual(told)
    },
  )

  test("a run that is stopped in a tool leaves its call unknown", async () => {
    const stop = new AbortController()
    const { run, session } = await runTurn(way, {
      steps: [{ calls: [pay("a")] }, { text: "Done." }],
      during: () => {
        stop.abort(new Error("stopped"))
        throw new Error("stopped")
      },
      abortSignal: stop.signal,
    })
    await codeOf(run)
    expect(await statesOf(session)).toEqual(["a unknown"])
    expect(await rolesOf(session)).toEqual(["user", "assistant"])
  })
})
