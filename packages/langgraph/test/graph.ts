/** A graph that plans, waits for a person's approval, and books. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph"
import type { SessionsSaver } from "@sessions/langgraph"

const State = Annotation.Root({
  place: Annotation<string>(),
  answer: Annotation<string>(),
  steps: Annotation<string[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
})

export const CONFIG = { configurable: { thread_id: "a trip" } }

// The type of a compiled graph is an inference over its nodes.
// oxlint-disable-next-line typescript/explicit-function-return-type
export function createGraph(checkpointer: SessionsSaver) {
  return new StateGraph(State)
    .addNode("plan", ({ place }) => ({ steps: [`plan ${place}`] }))
    .addNode("ask", ({ place }) => {
      const answer = interrupt<string, string>(`Book ${place}?`)
      return { answer, steps: [`asked: ${answer}`] }
    })
    .addNode("book", ({ place, answer }) => ({ steps: [answer === "yes" ? `booked ${place}` : "stopped"] }))
    .addEdge(START, "plan")
    .addEdge("plan", "ask")
    .addEdge("ask", "book")
    .addEdge("book", END)
    .compile({ checkpointer })
}
