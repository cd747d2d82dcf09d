/** Whether these lines are those that a page shows: `…` stands for any text of a line, and a line with nothing else for any number of lines. */
export function isShown(printed, shown) {
  const pattern = shown.map((line) => (line.trim() === "…" ? "(?:.*\\n)*?" : `${patternOf(line)}\\n`)).join("")
  return new RegExp(`^${pattern}$`).test(printed.map((line) => `${line}\n`).join(""))
}

function patternOf(line) {
  return line
    .split("…")
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    .join(".*")
}
