/** Tools of the AI SDK whose calls are run by `run`. */
import { withExecution } from "../execution.ts"
import { outputOf } from "../stored-output.ts"
import type { ToolCalls } from "../types.ts"

/** The options that the AI SDK gives to a tool, as far as they are read. */
interface ToolOptions {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal | undefined
}

type ExecuteTool = (input: unknown, options: ToolOptions) => unknown

/** The option `tools` of the AI SDK. */
export type ToolSet = Readonly<Record<string, object>>

/**
 * The tools with each `execute` run by `calls.run`. The calls must be in the log before the SDK executes them, as those are that a person has approved
 * in a chat of `@sessions/ai-sdk`. Otherwise `execute` rejects with `invalid`, and nothing runs. A loop over a session uses {@link recordAiSdk}.
 *
 * A tool that yields preliminary outputs gives its last one only.
 */
export function wrapTools<Tools extends ToolSet>(calls: Pick<ToolCalls, "run">, tools: Tools): Tools {
  return withRun(tools, (callId, execute, o) => calls.run({ id: callId }, execute, o))
}

export function withRun<Tools extends ToolSet>(
  tools: Tools,
  run: (
    callId: string,
    ...rest: Parameters<ToolCalls["run"]> extends [unknown, ...infer Rest] ? Rest : never
  ) => ReturnType<ToolCalls["run"]>,
): Tools {
  const wrapped = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as { readonly execute?: ExecuteTool }
    if (execute === undefined) return [name, tool]
    const executeOnce: ExecuteTool = async (input, options) => {
      const { toolCallId, abortSignal } = options
      const { outcome, message } = await run(
        toolCallId,
        async (execution) => last(await execute.call(tool, input, withExecution(options, execution))),
        abortSignal === undefined ? {} : { signal: abortSignal },
      )
      // It had a result.
      if (outcome === undefined) return outputOf(message)
      if ("error" in outcome) throw outcome.error
      return outcome.output
    }
    return [name, { ...tool, execute: executeOnce }]
  })
  return Object.fromEntries(wrapped) as Tools
}

/** The output, or the last one of a generator. */
async function last(output: unknown): Promise<unknown> {
  if (typeof output !== "object" || output === null || !(Symbol.asyncIterator in output)) return output
  let newest: unknown
  for await (const one of output as AsyncIterable<unknown>) newest = one
  return newest
}
