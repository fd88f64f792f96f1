import { jsonbText } from '../../../kit/json.ts';
import type { SandboxReport } from '../../intake/push/sandbox-report.ts';
import { cellOf, changed, columnOf, type Pool, type Tx } from '../db/pool.ts';

export async function saveSandboxReport(
  db: Pool | Tx,
  endpointId: string,
  integration: string,
  report: SandboxReport,
): Promise<void> {
  await db.query(
    'insert into sandbox_reports (integration, report_id, endpoint_id, at, report) values ($1, $2, $3, $4, $5)',
    [integration, report.report_id, endpointId, report.at, jsonbText(JSON.stringify(report))],
  );
}

/** Newest first. */
export const listSandboxReports = (pool: Pool, endpointId: string): Promise<SandboxReport[]> =>
  columnOf(pool)('select report from sandbox_reports where endpoint_id = $1 order by at desc, report_id limit 50', [
    endpointId,
  ]);

export const readSandboxReport = (
  pool: Pool,
  endpointId: string,
  reportId: string,
): Promise<SandboxReport | undefined> =>
  cellOf(pool)('select report from sandbox_reports where endpoint_id = $1 and report_id = $2', [endpointId, reportId]);

/** Deletes reports that are too old, and all but the last ones of each endpoint. */
export const pruneSandboxReports = (pool: Pool, keptMs: number): Promise<number> =>
  changed(pool)(
    `delete from sandbox_reports r using (
       select integration, report_id, at, row_number() over (partition by endpoint_id order by at desc) as nth
         from sandbox_reports) old
      where old.integration = r.integration and old.report_id = r.report_id
        and (old.at < now() - make_interval(secs => $1) or old.nth > 200)`,
    [keptMs / 1000],
  );
