/** Tools of the AI SDK whose calls are run by `run`. */
import { checkWrap } from "../checks.ts"
import { withExecution } from "../execution.ts"
import { outputOf } from "../stored-output.ts"
import type { CallResult, Execute, RunOptions, ToolCalls } from "../types.ts"

/** The options that the AI SDK gives to a tool, as far as they are read. */
interface ToolOptions {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal | undefined
}

type ExecuteTool = (input: unknown, options: ToolOptions) => unknown

/** The option `tools` of the AI SDK. */
export type ToolSet = Readonly<Record<string, object>>

/** A call as the SDK executes it: its answer has the same value as input, unless that has several calls with the id. */
export interface ExecutedCall {
  readonly id: string
  readonly input: unknown
}

/** The function that runs a call: `calls.run`. */
type Run = (call: ExecutedCall, execute: Execute, o: RunOptions) => Promise<CallResult>

/**
 * The tools with the `execute` of those that are `"never"` run by `calls.run`. They need `needsApproval: true`: a chat of `@sessions/ai-sdk` is saved
 * before its tools run only where it waits for a person. Otherwise `execute` rejects with `invalid`, and nothing runs. With `chatResult` of that
 * package as `toResult`, the results are in the chat. A loop over a session uses {@link recordAiSdk}.
 *
 * A tool that yields preliminary outputs gives its last one only.
 *
 * ```ts
 * import { createToolCalls } from "@sessions/tool-calls"
 * import { wrapTools } from "@sessions/tool-calls/ai-sdk"
 *
 * const calls = createToolCalls(session, { tools: { charge: "never" }, toResult: chatResult })
 * const { stream } = streamText({ model, messages, tools: wrapTools(calls, { charge, look }) })
 * ```
 */
export function wrapTools<Tools extends ToolSet>(calls: Pick<ToolCalls, "run" | "record">, tools: Tools): Tools {
  checkWrap("wrapTools", calls, tools)
  const never = Object.entries(tools).filter(([name]) => calls.record.never.includes(name))
  return { ...tools, ...withRun(Object.fromEntries(never), ({ id }, execute, o) => calls.run({ id }, execute, o)) }
}

export function withRun<Tools extends ToolSet>(tools: Tools, run: Run): Tools {
  const wrapped = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool as { readonly execute?: ExecuteTool }
    if (execute === undefined) return [name, tool]
    const executeOnce: ExecuteTool = async (input, options) => {
      const { toolCallId: id, abortSignal: signal } = options
      const { outcome, message } = await run(
        { id, input },
        async (execution) => last(await execute.call(tool, input, withExecution(options, execution))),
        signal === undefined ? {} : { signal },
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
