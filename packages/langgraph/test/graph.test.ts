/** LangGraph's own graphs over the saver: interrupts and forks. */
import { Annotation, Command, END, START, StateGraph } from "@langchain/langgraph"
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, test } from "vitest"
import { CONFIG, createGraph } from "./graph.ts"

test("a fork by updateState goes on from an earlier checkpoint, and the states of the first run stay", async () => {
  const location = createMemoryLocation()
  const open = (): ReturnType<typeof createGraph> =>
    createGraph(new SessionsSaver({ sessions: createSessions({ storage: createMemoryStorage({ location }) }) }))
  await open().invoke({ place: "Paris" }, CONFIG)
  await open().invoke(new Command({ resume: "yes" }), CONFIG)
  const before = await historyOf(open())
  const asked = before.find(({ next }) => next.includes("ask"))
  if (asked === undefined) throw new Error("no checkpoint before the question")

  const forked = await open().updateState(asked.config, { place: "Lyon", steps: ["changed"] }, "plan")
  expect(await open().invoke(null, forked)).toMatchObject({ __interrupt__: [{ value: "Book Lyon?" }] })
  expect(await open().invoke(new Command({ resume: "no" }), CONFIG)).toEqual({
    place: "Lyon",
    answer: "no",
    steps: ["plan Paris", "changed", "asked: no", "stopped"],
  })

  const after = await historyOf(open())
  expect(after.slice(-before.length)).toEqual(before)
  const last = before[0]
  expect((await open().getState(last?.config ?? CONFIG)).values).toEqual(last?.values)
})

test("a node whose value cannot be stored fails its run, and the error names it", async () => {
  const checkpointer = new SessionsSaver({ sessions: createSessions({ storage: createMemoryStorage() }) })
  const State = Annotation.Root({ order: Annotation<{ price: unknown }>(), paid: Annotation<boolean>() })
  const graph = new StateGraph(State)
    .addNode("price", ({ order }) => ({ order: { price: BigInt(String(order.price)) } }))
    .addNode("pay", () => ({ paid: true }))
    .addEdge(START, "price")
    .addEdge("price", "pay")
    .addEdge("pay", END)
    .compile({ checkpointer })
  for (const durability of ["sync", "async", "exit"] as const) {
    const config = { configurable: { thread_id: durability }, durability }
    const message = expect.stringContaining('channel "order" cannot be stored: order.price is a BigInt') as string
    await expect(graph.invoke({ order: { price: 1 } }, config)).rejects.toMatchObject({ code: "invalid", message })
    const { values } = await graph.getState(config)
    expect(values).not.toHaveProperty("order.price", expect.any(String))
  }
})

type Graph = ReturnType<typeof createGraph>

async function historyOf(graph: Graph): Promise<Awaited<ReturnType<Graph["getState"]>>[]> {
  const states: Awaited<ReturnType<Graph["getState"]>>[] = []
  for await (const state of graph.getStateHistory(CONFIG)) states.push(state)
  return states
}
