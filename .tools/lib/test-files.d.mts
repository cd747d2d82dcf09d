export function testFiles(): string[]
export function sharing(files: readonly string[]): string[]
