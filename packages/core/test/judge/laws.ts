/** The laws of each request and message. */
export const LAWS = {
  accepted: "a possible request is accepted after at most 14 refusals",
  named: "an impossible request ends in an error that names the figures",
  unpaid:
    "an impossible request costs at most three compactions and one for each new message, and none while its smallest form gets no smaller",
  question: "the last question of the user is in every request",
  unread: "what the model has not read is in every request: its last calls and all their results",
  once: "a message is sent once, or summarized once",
  kept: "a message is in the context or in a summary",
  fold: "another process that reads the log sends the same request, of the same predicted size",
} as const
export type Law = keyof typeof LAWS
