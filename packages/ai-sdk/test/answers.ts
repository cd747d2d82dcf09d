/** The messages of a run as `onStepEnd` gives them, made by hand: for processes that do not load the AI SDK. */
import type { ChatMessage } from "../src/index.ts"

export function question(id: string): ChatMessage {
  return { id, role: "user", parts: [part("text", { text: `question ${id}` })] }
}

/** The chat after the first steps of the answer. */
export function afterSteps(steps: number): ChatMessage[] {
  const parts = Array.from({ length: steps }, (_, i) => [
    part("step-start", {}),
    part("tool-look", { toolCallId: `c${i}`, state: "output-available", input: { i }, output: `result ${i}` }),
  ]).flat()
  return [question("u1"), ...(steps === 0 ? [] : [{ id: "a1", role: "assistant" as const, parts }])]
}

function part(type: string, fields: Readonly<Record<string, unknown>>): { type: string } {
  return { type, ...fields }
}
