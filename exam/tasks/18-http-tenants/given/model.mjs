/**
 * Stands for a model: it gets a list of `{ role, content }`, where content is a text, and resolves with the text of its answer. A question that begins with "wait" is not
 * answered before the signal fires, and then the promise rejects.
 */
export async function answer(messages, signal) {
  const last = messages.at(-1).content
  if (last.startsWith("wait")) {
    await new Promise((_, reject) => {
      const timer = setInterval(() => undefined, 1000)
      signal.addEventListener("abort", () => {
        clearInterval(timer)
        reject(signal.reason)
      })
    })
  }
  return `${messages.length} messages, the last one: ${last}`
}
