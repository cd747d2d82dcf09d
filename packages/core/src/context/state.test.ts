import { describe, expect, test } from "vitest"
import { cpuTime } from "../../test/cpu-time.ts"
import { assistant, chain, user } from "../../test/chain.ts"
import type { ContextState, Entry } from "../format/entry.ts"
import type { EntrySlot } from "../log/entry-log.ts"
import { foldState, initialState, storedState } from "./state.ts"

type Fields = Readonly<Record<string, unknown>>

function fold(...payloads: readonly Fields[]): ContextState {
  return foldState(entriesOf(chain(...payloads)))
}

function entriesOf(slots: readonly EntrySlot[]): Entry[] {
  return slots.filter((slot) => slot !== undefined)
}

const model = (provider: string, name: string, role?: string): Fields => ({
  type: "model_change",
  provider,
  model: name,
  ...(role === undefined ? {} : { role }),
})

test("before the first entry thinking is off, there is no model, no mode and no rule", () => {
  expect(initialState()).toStrictEqual({
    thinkingLevel: "off",
    models: {},
    modelIsExplicit: false,
    mode: "none",
    injectedTtsrRules: [],
  })
})

test("the model and level of an older header apply until an entry or an assistant message changes them", () => {
  const start = initialState({ provider: "p", modelId: "m", thinkingLevel: "low", systemPromptOverride: "s" })
  expect(start).toMatchObject({
    thinkingLevel: "low",
    models: { default: { provider: "p", model: "m" } },
    systemPromptOverride: "s",
  })
  const said = foldState(entriesOf(chain(assistant("a", { provider: "q", model: "n" }))), start)
  expect(said.models["default"]).toEqual({ provider: "q", model: "n" })
})

describe("the default model", () => {
  test("is the latest assistant message's while the path has no model_change for it", () => {
    const { models, modelIsExplicit } = fold(
      assistant("a", { provider: "p", model: "1" }),
      assistant("b", { provider: "p", model: "2" }),
    )
    expect(models).toEqual({ default: { provider: "p", model: "2" } })
    expect(modelIsExplicit).toBe(false)
  })

  test("is the latest model_change's once there is one, whichever model answers", () => {
    const { models, modelIsExplicit } = fold(
      assistant("a", { provider: "p", model: "1" }),
      model("q", "2"),
      assistant("b", { provider: "p", model: "1" }),
    )
    expect(models).toEqual({ default: { provider: "q", model: "2" } })
    expect(modelIsExplicit).toBe(true)
  })

  test("does not become explicit by a change of another role", () => {
    const { models, modelIsExplicit } = fold(model("q", "small", "smol"), assistant("a", { provider: "p", model: "1" }))
    expect(models).toEqual({ smol: { provider: "q", model: "small" }, default: { provider: "p", model: "1" } })
    expect(modelIsExplicit).toBe(false)
  })

  test("is not set by users, by results, or by half a name", () => {
    const named = { provider: "p", model: "1" }
    const said = fold(
      user("a", { message: { role: "user", content: [], ...named } }),
      assistant("a", { provider: "p" }),
      assistant("a", { provider: 1, model: "m" }),
    )
    expect(said.models).toEqual({})
  })
})

test("a role may have any name, including names of Object's own properties", () => {
  const { models } = fold(model("p", "1", "__proto__"), model("p", "2", "constructor"), model("p", "3", "__proto__"))
  expect(Object.entries(models)).toEqual([
    ["__proto__", { provider: "p", model: "3" }],
    ["constructor", { provider: "p", model: "2" }],
  ])
  expect(Object.getPrototypeOf(models)).toBe(Object.prototype)
  const again = foldState([], JSON.parse(JSON.stringify(fold(model("p", "1", "__proto__")))) as ContextState)
  expect(Object.entries(again.models)).toEqual([["__proto__", { provider: "p", model: "1" }]])
})

test("the mode is the latest with its data, and a mode without data has no data", () => {
  const plan = { type: "mode_change", mode: "plan", data: { step: 1 } }
  expect(fold(plan)).toMatchObject({ mode: "plan", modeData: { step: 1 } })
  expect(fold(plan, { type: "mode_change", mode: "none" })).not.toHaveProperty("modeData")
})

test("rules are in the order in which they first appear, each once", () => {
  const inject = (...injectedRules: unknown[]): Fields => ({ type: "ttsr_injection", injectedRules })
  expect(fold(inject("b", "a"), inject("a", 7, "c", "b")).injectedTtsrRules).toEqual(["b", "a", "c"])
})

test("an entry whose payload does not match its type changes nothing", () => {
  const broken = ["thinking_level_change", "model_change", "mode_change", "ttsr_injection", "message"].flatMap(
    (type) => [
      { type },
      { type, thinkingLevel: null, provider: 1, model: "m", mode: 2, injectedRules: "r", message: null },
    ],
  )
  expect(fold(...broken)).toStrictEqual(initialState())
  expect(fold({ type: "model_change", provider: "p", model: "m", role: null }).models).toEqual({})
})

test("projecting entries does not change the state that it starts from", () => {
  const start = fold(model("p", "1"), { type: "ttsr_injection", injectedRules: ["a"] })
  const before = structuredClone(start)
  foldState(entriesOf(chain(model("p", "2"), { type: "ttsr_injection", injectedRules: ["b"] })), start)
  expect(start).toEqual(before)
})

test("projecting is linear in the path, however many roles and rules there are", () => {
  const path = Array.from({ length: 100_000 }, (_, n) =>
    n % 2 === 0 ? model("p", "m", `role ${n}`) : { type: "ttsr_injection", injectedRules: [`rule ${n}`] },
  ) as unknown as Entry[]
  const start = cpuTime()
  expect(foldState(path).injectedTtsrRules).toHaveLength(50_000)
  expect(cpuTime() - start).toBeLessThan(2_000)
})

describe("a stored state", () => {
  const state = fold(model("p", "1"), { type: "mode_change", mode: "plan", data: 1 })
  const stored = (value: unknown, type = "compaction"): ContextState | undefined =>
    storedState(entriesOf(chain({ type, state: value }))[0] as Entry)

  test("is used as it is", () => {
    expect(stored(state)).toStrictEqual(state)
    expect(stored({ ...state, systemPromptOverride: "s" })).toHaveProperty("systemPromptOverride", "s")
  })

  test("adds no fields to the context except its own", () => {
    expect(stored({ ...state, messages: ["x"], model: "x", tokens: 0 })).toStrictEqual(state)
  })

  test("is used only from a compaction or a reset, and only if it is complete", () => {
    expect(stored(state, "custom")).toBeUndefined()
    const broken = [
      undefined,
      null,
      5,
      [],
      { ...state, thinkingLevel: null },
      { ...state, models: [] },
      { ...state, models: { default: "p/m" } },
      { ...state, modelIsExplicit: undefined },
      { ...state, mode: 1 },
      { ...state, injectedTtsrRules: ["a", 1] },
      { ...state, systemPromptOverride: 1 },
    ]
    expect(broken.map((value) => stored(value))).toEqual(broken.map(() => undefined))
  })
})
