/** Function tools of the OpenAI Agents SDK whose calls are run by `run`. */
import { checkWrap } from "../checks.ts"
import { notWrappedError } from "../errors.ts"
import { withExecution } from "../execution.ts"
import { outputOf } from "../stored-output.ts"
import type { ToolCalls } from "../types.ts"

/** A function tool as `tool()` makes it, as far as it is read. Tools of other types are left as they are. */
interface AgentTool {
  readonly type: string
  readonly name: string
  readonly invoke?: unknown
}

type Invoke = (context: unknown, input: string, details?: ToolDetails) => Promise<unknown>

interface ToolDetails {
  readonly toolCall?: { readonly callId?: string }
  readonly signal?: AbortSignal
}

/**
 * The tools with those that are `"never"` run by `calls.run`. They need `needsApproval: true`: the SDK stores a call before its tool runs only if it
 * waits for approval. Otherwise `run` of the SDK rejects with `invalid`, and nothing runs; the same if an answer has several calls, so the agent needs
 * `modelSettings: { parallelToolCalls: false }`. With `agentResult` of `@sessions/openai-agents` as `toResult`, the results are in its sessions.
 *
 * ```ts
 * import { createToolCalls } from "@sessions/tool-calls"
 * import { wrapTools } from "@sessions/tool-calls/openai-agents"
 *
 * const calls = createToolCalls(session, { tools: { charge: "never" }, toResult: agentResult })
 * const agent = new Agent({ name: "shop", tools: wrapTools(calls, [charge]), modelSettings: { parallelToolCalls: false } })
 * ```
 */
export function wrapTools<Tool extends AgentTool>(
  calls: Pick<ToolCalls, "run" | "record">,
  tools: readonly Tool[],
): Tool[] {
  checkWrap("wrapTools", calls, tools, true)
  return tools.map((tool) =>
    tool.type === "function" && calls.record.never.includes(tool.name)
      ? { ...tool, invoke: invokeOnce(calls, tool) }
      : tool,
  )
}

function invokeOnce(calls: Pick<ToolCalls, "run">, tool: AgentTool): Invoke {
  const invoke = tool.invoke as Invoke
  return async (context, input, details) => {
    const id = details?.toolCall?.callId
    if (details === undefined || id === undefined) throw notWrappedError()
    const { outcome, message } = await calls.run(
      { id },
      (execution) => invoke.call(tool, context, input, withExecution(details, execution)),
      details.signal === undefined ? {} : { signal: details.signal },
    )
    // It had a result.
    if (outcome === undefined) return outputOf(message)
    if ("error" in outcome) throw outcome.error
    return outcome.output
  }
}
