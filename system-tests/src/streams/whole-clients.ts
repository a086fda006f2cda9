import { contentOfStream, verifyFrames } from '@relay/provider-sim';
import { afterMs } from '../harness/until.ts';
import type { WholeJob, WholeResult } from './client-jobs.ts';
import { openStream } from './stream-request.ts';

const PROBLEMS_SHOWN = 5;

/** Reads every stream to its end and judges it when all are over, so that judging delays no reading. */
export async function runWhole(job: WholeJob): Promise<WholeResult> {
  const texts = await Promise.all(
    Array.from({ length: job.streams }, async (_, index) => {
      await afterMs(index * job.startGapMs);
      return readStream(job, `s${index}`);
    }),
  );
  const problems: string[] = [];
  let lost = 0;
  for (const [index, text] of texts.entries()) {
    const problem = judge(job, `s${index}`, text);
    if (problem === null) continue;
    lost += problem.lost;
    problems.push(`s${index}: ${problem.why}`);
  }
  return { streams: texts.length, lost, problems: problems.slice(0, PROBLEMS_SHOWN) };
}

function readStream(job: WholeJob, tag: string): Promise<string> {
  const sim = { frames: job.frames, frameBytes: 64, frameDelayMs: job.frameDelayMs };
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve(`failed: ${error.message}`);
    openStream(
      job,
      tag,
      sim,
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve(Buffer.concat(chunks).toString()));
        response.on('error', failed);
      },
      failed,
    );
  });
}

function judge(job: WholeJob, tag: string, text: string): { lost: number; why: string } | null {
  if (!text.endsWith('data: [DONE]\n\n')) return { lost: job.frames, why: `ended with ${text.slice(-200)}` };
  const report = verifyFrames(contentOfStream(text), { frames: job.frames, tag });
  if (report.ok) return null;
  const { lost, repeated, reordered, changed, foreign } = report;
  return {
    lost: lost.length + changed.length + repeated.length + reordered.length + foreign.length,
    why: JSON.stringify({ lost, repeated, reordered, changed, foreign }).slice(0, 300),
  };
}
