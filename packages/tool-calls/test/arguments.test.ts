/** Arguments of a wrong type: an error that says what to pass, and nothing that has begun. */
import { createMemoryStorage } from "@sessions/memory"
import { createSessions } from "@sessions/core"
import { createToolCalls, type ToolCalls } from "@sessions/tool-calls"
import { recordAiSdk, wrapTools } from "@sessions/tool-calls/ai-sdk"
import { wrapTools as wrapAgentTools } from "@sessions/tool-calls/openai-agents"
import { expect, test } from "vitest"
import { call, inTurn, statesOf, stored } from "./world.ts"

type Loose<F> = F extends (...args: never[]) => infer R ? (...args: unknown[]) => R : never
const create = createToolCalls as Loose<typeof createToolCalls>

const TOOLS = { charge: "never" }
const nothing = (): undefined => undefined

test.each<readonly [string, readonly unknown[], string]>([
  ["no session", [undefined, { tools: TOOLS }], "createToolCalls takes an open session first"],
  ["a repository", [createSessions({ storage: createMemoryStorage() }), { tools: TOOLS }], "takes an open session"],
  ["no options", [], "createToolCalls takes an object with the options"],
  ["no tools", [{}], "createToolCalls needs `tools`"],
  ["a list of tools", [{ tools: ["charge"] }], "createToolCalls needs `tools`"],
  ["a kind that is none", [{ tools: { charge: "once" } }], 'The tool "charge" must be "never" or "safe", not "once".'],
  ["a misspelt option", [{ tools: TOOLS, onUnknwon: nothing }], 'Did you mean "onUnknown"?'],
  ["an `onUnknown` that is no function", [{ tools: TOOLS, onUnknown: 5 }], "`onUnknown` must be a function, not 5."],
  ["a `toResult` that is no function", [{ tools: TOOLS, toResult: "x" }], "`toResult` must be a function"],
])("createToolCalls refuses %s", async (_, args, message) => {
  const { session } = await inTurn([call("a")])
  expect(() => create(...(args.length > 1 ? args : [session, ...args]))).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) as string }),
  )
})

type Act = (calls: { readonly [K in "run" | "resume"]: Loose<ToolCalls[K]> }) => Promise<unknown>

test.each<readonly [string, Act, string]>([
  ["run without arguments", ({ run }) => run(), "run takes a call of the answer first"],
  ["run with an id", ({ run }) => run("a", nothing), "run takes a call of the answer first: its block, or what"],
  ["run without a function", ({ run }) => run(call("a")), "run takes the function that does the call second"],
  ["run with a number for it", ({ run }) => run(call("a"), 5), "second, not 5. Nothing was started."],
  ["run with null for options", ({ run }) => run(call("a"), nothing, null), "run takes an object with the options"],
  ["run with a misspelt option", ({ run }) => run(call("a"), nothing, { sginal: 1 }), 'Did you mean "signal"?'],
  [
    "run with a controller for a signal",
    ({ run }) => run(call("a"), nothing, { signal: new AbortController() }),
    "`signal` must be an AbortSignal, not object.",
  ],
  ["resume without executors", ({ resume }) => resume(), "resume takes an object with a function for each tool"],
  ["resume with a function", ({ resume }) => resume(nothing), "resume takes an object with a function for each tool"],
  ["an executor that is none", ({ resume }) => resume({ charge: 5 }), 'The executor of "charge" must be a function'],
  ["resume with a misspelt option", ({ resume }) => resume({}, { sginal: 1 }), 'Did you mean "signal"?'],
])("%s is `invalid`, and starts nothing", async (_, act, message) => {
  const { session, calls } = await inTurn([call("a")])
  await expect(
    act({
      run: (...args) => (calls.run as Loose<ToolCalls["run"]>)(...args),
      resume: (...args) => (calls.resume as Loose<ToolCalls["resume"]>)(...args),
    }),
  ).rejects.toMatchObject({ code: "invalid", message: expect.stringContaining(message) as string })
  expect(await stored(session, "tool_start")).toEqual([])
  expect(await statesOf(session)).toEqual(["a waiting"])
})

test.each<readonly [string, (...args: unknown[]) => unknown, readonly unknown[]]>([
  ["wrapTools without calls", wrapTools as Loose<typeof wrapTools>, [undefined, {}]],
  ["wrapTools without tools", wrapTools as Loose<typeof wrapTools>, ["calls"]],
  ["recordAiSdk without options", recordAiSdk as Loose<typeof recordAiSdk>, []],
  ["recordAiSdk without tools", recordAiSdk as Loose<typeof recordAiSdk>, [{ session: "session", calls: "calls" }]],
  ["wrapTools of agents without calls", wrapAgentTools as Loose<typeof wrapAgentTools>, [undefined, []]],
  ["wrapTools of agents without a list", wrapAgentTools as Loose<typeof wrapAgentTools>, ["calls", {}]],
])("%s is `invalid`", async (_, wrap, args) => {
  const { session, calls } = await inTurn([call("a")])
  const given = (value: unknown): unknown => (value === "calls" ? calls : value === "session" ? session : value)
  const filled = args.map((arg) =>
    Object.prototype.toString.call(arg) === "[object Object]"
      ? Object.fromEntries(Object.entries(arg as object).map(([name, value]) => [name, given(value)]))
      : given(arg),
  )
  expect(() => wrap(...filled)).toThrow(expect.objectContaining({ code: "invalid" }))
})
