export { type ReportFormat, reportFile, reportFormats } from './formats.ts';
export {
  addReportAddress,
  confirmReportAddress,
  listReportAddresses,
  maxAddresses,
  removeReportAddress,
} from './monthly/addresses.ts';
export { monthlyFile } from './monthly/file.ts';
export { startMonthlyMails } from './monthly/mails.ts';
export { getsMonthlyReport, noticeFinishedMonths, setMonthlyReport } from './monthly/schedule.ts';
export { writeReceipt } from './receipt.ts';
export { openReport } from './report.ts';
export { reportLanguages } from './texts.ts';
export { badPeriods, readWantedPeriod } from './wanted-period.ts';
