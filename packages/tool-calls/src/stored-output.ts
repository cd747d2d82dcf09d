/** The output that an SDK gets of a call that had a result. */
import type { ToolResultMessage } from "@sessions/core"

/** The texts of the result. */
export function outputOf({ content }: ToolResultMessage): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("")
}
