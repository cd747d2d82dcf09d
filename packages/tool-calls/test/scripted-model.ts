/** A model of the AI SDK that gives the scripted answers, and keeps what it was asked. */
import { MockLanguageModelV4 } from "ai/test"

export interface ToolUse {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

export interface Step {
  readonly text?: string
  readonly calls?: readonly ToolUse[]
}

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 10, text: 10, reasoning: undefined },
}

type Content = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>["content"]
type Chunk = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer C> ? C : never

export function scriptedModel(steps: readonly Step[]) {
  const left = [...steps]
  const prompts: unknown[] = []
  const next = ({ prompt }: { readonly prompt: unknown }) => {
    prompts.push(structuredClone(prompt))
    const { text = "", calls = [] } = left.shift() ?? {}
    const said = text === "" ? [] : [{ type: "text" as const, text }]
    const called = calls.map(({ id, name, input }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name,
      input: JSON.stringify(input),
    }))
    const unified = calls.length > 0 ? ("tool-calls" as const) : ("stop" as const)
    return { content: [...said, ...called] satisfies Content, finishReason: { unified, raw: undefined } }
  }
  const model = new MockLanguageModelV4({
    provider: "scripted.test",
    modelId: "scripted-1",
    doGenerate: async (o) => ({ ...next(o), usage, warnings: [] }),
    doStream: async (o) => {
      const { content, finishReason } = next(o)
      const chunks = content.flatMap((part): Chunk[] =>
        part.type === "text"
          ? [
              { type: "text-start", id: "t" },
              { type: "text-delta", id: "t", delta: part.text },
              { type: "text-end", id: "t" },
            ]
          : [part],
      )
      return {
        stream: streamOf([{ type: "stream-start", warnings: [] }, ...chunks, { type: "finish", finishReason, usage }]),
      }
    },
  })
  return { model, prompts }
}

function streamOf(chunks: readonly Chunk[]): ReadableStream<Chunk> {
  return new ReadableStream<Chunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}
