export function shownExamples(): { name: string; commands: string[]; shown: string[] | undefined }[]
