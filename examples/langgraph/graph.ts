/** A graph that plans a trip, asks, and books. */
import { Annotation, END, interrupt, START, StateGraph } from "@langchain/langgraph"
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint"

const Trip = Annotation.Root({
  city: Annotation<string>(),
  steps: Annotation<string[]>({ reducer: (before, added) => [...before, ...added], default: () => [] }),
})

// The type of a compiled graph is an inference over its nodes.
// oxlint-disable-next-line typescript/explicit-function-return-type
export function createGraph(checkpointer: BaseCheckpointSaver) {
  return new StateGraph(Trip)
    .addNode("plan", ({ city }) => ({ steps: [`plan ${city}`] }))
    .addNode("book", ({ city }) => {
      const answer = interrupt<string, string>(`Book a hotel in ${city}?`)
      return { steps: [answer === "yes" ? `booked in ${city}` : "not booked"] }
    })
    .addEdge(START, "plan")
    .addEdge("plan", "book")
    .addEdge("book", END)
    .compile({ checkpointer })
}
