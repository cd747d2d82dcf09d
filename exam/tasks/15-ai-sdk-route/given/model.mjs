/** Stands for a model of the AI SDK that streams: `createModel(prompts)` puts the prompt of each call into `prompts` and says how many messages it has. */
export function createModel(prompts = []) {
  return {
    specificationVersion: "v4",
    provider: "stand-in",
    modelId: "stand-in",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("This model only streams.")),
    async doStream({ prompt }) {
      prompts.push(prompt)
      const words = ["I have read ", `${prompt.length} messages,`, ` call ${prompts.length}.`]
      const usage = {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      }
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: "stream-start", warnings: [] })
            controller.enqueue({ type: "text-start", id: "text" })
            for (const delta of words) controller.enqueue({ type: "text-delta", id: "text", delta })
            controller.enqueue({ type: "text-end", id: "text" })
            controller.enqueue({ type: "finish", finishReason: { unified: "stop", raw: undefined }, usage })
            controller.close()
          },
        }),
      }
    },
  }
}
