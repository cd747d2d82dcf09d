export function pagesOf(half: "Use it" | "How it works"): string[]
