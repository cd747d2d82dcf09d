/** Where a session is, for what must not be appended behind anything that was not looked at. */
import type { Session } from "@sessions/core"

/** Changes with everything that is taken over from other writers, and with every entry of the conversation that this process appends. */
export function positionOf({ leafId, head }: Session): string {
  return JSON.stringify([leafId, head.next, head.log])
}
