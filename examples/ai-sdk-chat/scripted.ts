/** Stands in for a model: says the words of its next answer one by one, and waits where the program has to do something first. */
import type { LanguageModel } from "ai"

type Model = Extract<LanguageModel, { readonly specificationVersion: "v4" }>
type Part = Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never

/** The model waits at a promise until it resolves. */
export type Word = string | Promise<unknown> | Call

export interface Call {
  readonly toolName: string
  readonly input: object
}

export function createScriptedModel(answers: readonly (readonly Word[])[]): LanguageModel {
  const left = [...answers]
  return {
    specificationVersion: "v4",
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("The scripted model only streams.")),
    doStream: ({ abortSignal }) => Promise.resolve({ stream: answerStream(left.shift() ?? [], abortSignal) }),
  }
}

function answerStream(words: readonly Word[], signal: AbortSignal | undefined): ReadableStream<Part> {
  const left = [...words]
  let calls = 0
  return new ReadableStream<Part>({
    start(controller) {
      controller.enqueue({ type: "stream-start", warnings: [] })
      controller.enqueue({ type: "text-start", id: "text" })
      signal?.addEventListener("abort", () => controller.error(signal.reason))
    },
    async pull(controller) {
      const word = left.shift()
      if (typeof word === "string") return controller.enqueue({ type: "text-delta", id: "text", delta: word })
      if (word !== undefined && "toolName" in word) {
        const call = { toolCallId: `call-${++calls}`, toolName: word.toolName, input: JSON.stringify(word.input) }
        return controller.enqueue({ type: "tool-call", ...call })
      }
      if (word !== undefined) return void (await word)
      const unified = calls > 0 ? "tool-calls" : "stop"
      controller.enqueue({ type: "text-end", id: "text" })
      controller.enqueue({ type: "finish", finishReason: { unified, raw: undefined }, usage: USAGE })
      controller.close()
    },
  })
}

const USAGE = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}
